import type { Address } from "viem";
import type { ParsedOrder } from "../../../../projections/domain/orders/parsed-order.ts";
import type { OwnListing } from "../../../../projections/domain/orders/validate-state.ts";

/** Totals of the orders accepted so far in the current batch, which no projection contains yet. */
export type BatchTotals = {
  /** The cheapest listing of the same token by the same maker. */
  cheapest(order: ParsedOrder): OwnListing | null;
  bidWei(maker: Address): bigint;
  orders(maker: Address): number;
  add(order: ParsedOrder): void;
};

export function createBatchTotals(): BatchTotals {
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

const tokenOf = ({ components, contract, tokenId }: ParsedOrder): string =>
  `${components.offerer} ${contract} ${tokenId}`;
