import type { Address } from "viem";
import type { OwnListing } from "../../../../projections/domain/orders/judge-chain.ts";
import type { RecognizedOrder } from "../../../../projections/domain/orders/recognized-order.ts";

/** What orders take up that were accepted in the batch under way, and that no book tells of yet. */
export type Ledger = {
  /** The cheapest listing of the same token by the same maker. */
  cheapest(order: RecognizedOrder): OwnListing | null;
  bidWei(maker: Address): bigint;
  orders(maker: Address): number;
  add(order: RecognizedOrder): void;
};

export function openLedger(): Ledger {
  const listings = new Map<string, OwnListing>();
  const wei = new Map<Address, bigint>();
  const counts = new Map<Address, number>();
  return {
    cheapest: (order) => listings.get(tokenOf(order)) ?? null,
    bidWei: (maker) => wei.get(maker) ?? 0n,
    orders: (maker) => counts.get(maker) ?? 0,
    add(order) {
      const { side, components, orderHash, unitPriceWei, quantity } = order;
      const maker = components.offerer;
      counts.set(maker, (counts.get(maker) ?? 0) + 1);
      if (side === "bid") {
        wei.set(maker, (wei.get(maker) ?? 0n) + unitPriceWei * quantity);
        return;
      }
      const before = listings.get(tokenOf(order));
      if (before === undefined || unitPriceWei < before.unitPriceWei) {
        listings.set(tokenOf(order), { orderHash, unitPriceWei });
      }
    },
  };
}

const tokenOf = ({ components, contract, tokenId }: RecognizedOrder): string =>
  `${components.offerer} ${contract} ${tokenId}`;
