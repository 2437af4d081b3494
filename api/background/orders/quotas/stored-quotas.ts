import type { Address, Hex } from "viem";
import type { ChainId } from "#chains/index.ts";
import type { Database } from "#projections/log/database.ts";
import type { Spending, TradeHistory } from "#projections/domain/orders/order-quotas.ts";
import type { ParsedOrder } from "#projections/domain/orders/order-terms.ts";
import { readHigherBidders, readOpenOrderCounts, type ContractHistory, readContractHistories, readMakerHistories } from "#projections/orders/read-maker-histories.ts";
import { readBlocked } from "./blocked-makers.ts";
import { shareKeys } from "./network-shares.ts";
import { readSpending } from "./order-budgets.ts";

/** What the quotas of orders depend on. */
export type StoredQuotas = {
  makers: ReadonlyMap<Address, TradeHistory>;
  contracts: ReadonlyMap<Address, ContractHistory>;
  openOfMakers: ReadonlyMap<Address, number>;
  /** By the hash of a bid: makers with an active bid on its contract at its price or above. None: too few to matter. */
  higherBidders: ReadonlyMap<Hex, number>;
  /** By `budgetKey`. */
  spending: ReadonlyMap<string, Spending>;
  blocked: ReadonlySet<Address>;
};

/** An order, and the network address that it came from. */
type SubmittedOrder = { order: ParsedOrder; network: string | null };

/** By one query of each kind for all orders of a batch. `contractQuota`: see `OrderQuotas`. */
export async function readStoredQuotas(
  db: Database,
  chainId: ChainId,
  { submitted, contractQuota }: { submitted: readonly SubmittedOrder[]; contractQuota: number },
  now: Date,
): Promise<StoredQuotas> {
  const orders = submitted.map(({ order }) => order);
  const makers = orders.map(({ maker }) => maker);
  const contracts = orders.map(({ contract }) => contract);
  const bids = orders.filter(({ side }) => side === "bid");
  const keys = [...makers, ...contracts, ...submitted.flatMap(shareKeys)];
  const [histories, ofContracts, openOfMakers, ranks, spending, blocked] = await Promise.all([
    readMakerHistories(db, chainId, makers),
    readContractHistories(db, chainId, contracts),
    readOpenOrderCounts(db, chainId, makers, now),
    readHigherBidders(db, chainId, bids, contractQuota),
    readSpending(db, chainId, keys),
    readBlocked(db, makers),
  ]);
  const higherBidders = new Map(ranks.map((one) => [one.orderHash, one.higherBidders]));
  const stored = { openOfMakers, higherBidders, spending, blocked };
  return { ...stored, makers: histories, contracts: ofContracts };
}
