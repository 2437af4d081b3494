import type { Address } from "viem";
import type { OrderBudget } from "#projections/domain/orders/order-quotas.ts";
import type { ParsedOrder } from "#projections/domain/orders/order-terms.ts";
import type { OwnListing } from "#projections/domain/orders/validate-state.ts";
import { budgetKey, type Charge } from "./order-budgets.ts";

/** Totals of the orders accepted so far in the current batch, which no projection contains yet. */
export type BatchTotals = {
  /** The cheapest listing of the same token by the same maker. */
  cheapest(order: ParsedOrder): OwnListing | null;
  bidWei(maker: Address): bigint;
  orders(maker: Address): number;
  contractListings(contract: Address): number;
  /** Other makers who bid on the contract at this price or above. */
  higherBidders(order: ParsedOrder): number;
  /** Orders charged to a budget. */
  charged(budget: OrderBudget): number;
  charges(): readonly Charge[];
  add(order: ParsedOrder, budgets: readonly OrderBudget[]): void;
};

export function createBatchTotals(): BatchTotals {
  const listings = new Map<string, OwnListing>();
  const wei = new Map<Address, bigint>();
  const counts = new Map<Address, number>();
  const contracts = new Map<Address, number>();
  const bids: ParsedOrder[] = [];
  const charges = new Map<string, Charge>();
  return {
    cheapest: (order) => listings.get(tokenOf(order)) ?? null,
    bidWei: (maker) => wei.get(maker) ?? 0n,
    orders: (maker) => counts.get(maker) ?? 0,
    contractListings: (contract) => contracts.get(contract) ?? 0,
    higherBidders: ({ maker, contract, unitPriceWei }) =>
      new Set(
        bids
          .filter((bid) => bid.contract === contract && bid.unitPriceWei >= unitPriceWei)
          .flatMap((bid) => (bid.maker === maker ? [] : [bid.maker])),
      ).size,
    charged: (budget) => charges.get(budgetKey(budget))?.orders ?? 0,
    charges: () => [...charges.values()],
    add(order, budgets) {
      const { side, components, orderHash, unitPriceWei, quantity } = order;
      const maker = components.offerer;
      for (const budget of budgets) {
        const key = budgetKey(budget);
        charges.set(key, { budget, orders: (charges.get(key)?.orders ?? 0) + 1 });
      }
      counts.set(maker, (counts.get(maker) ?? 0) + 1);
      if (side === "bid") {
        wei.set(maker, (wei.get(maker) ?? 0n) + unitPriceWei * quantity);
        bids.push(order);
        return;
      }
      contracts.set(order.contract, (contracts.get(order.contract) ?? 0) + 1);
      const before = listings.get(tokenOf(order));
      if (before === undefined || unitPriceWei < before.unitPriceWei) {
        listings.set(tokenOf(order), { orderHash, unitPriceWei });
      }
    },
  };
}

const tokenOf = ({ components, contract, tokenId }: ParsedOrder): string =>
  `${components.offerer} ${contract} ${tokenId}`;
