import type { Address } from "viem";
import type { ChainId } from "../../../../abis/deployments.ts";
import type { Database } from "../../../../projections/database.ts";
import type { Spending, TradeHistory } from "../../../../projections/domain/orders/order-quotas.ts";
import { readOpenOrderCounts } from "../../../../projections/reads/orders/read-open-order-counts.ts";
import {
  type ContractHistory,
  readContractHistories,
  readMakerHistories,
} from "../../../../projections/reads/orders/read-trade-histories.ts";
import { readBlocked } from "./blocked-makers.ts";
import { readSpending } from "./order-budgets.ts";

/** What the quotas of orders depend on. */
export type StoredQuotas = {
  makers: ReadonlyMap<Address, TradeHistory>;
  contracts: ReadonlyMap<Address, ContractHistory>;
  openOfMakers: ReadonlyMap<Address, number>;
  /** By `budgetKey`. */
  spending: ReadonlyMap<string, Spending>;
  blocked: ReadonlySet<Address>;
};

/** By one query of each kind for all orders of a batch. */
export async function readStoredQuotas(
  db: Database,
  chainId: ChainId,
  { makers, contracts }: { makers: readonly Address[]; contracts: readonly Address[] },
  now: Date,
): Promise<StoredQuotas> {
  const [histories, ofContracts, openOfMakers, spending, blocked] = await Promise.all([
    readMakerHistories(db, chainId, makers),
    readContractHistories(db, chainId, contracts),
    readOpenOrderCounts(db, chainId, makers, now),
    readSpending(db, chainId, [...makers, ...contracts]),
    readBlocked(db, makers),
  ]);
  return { makers: histories, contracts: ofContracts, openOfMakers, spending, blocked };
}
