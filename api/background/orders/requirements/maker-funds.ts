import type { Address } from "viem";
import type { MarketTerms } from "#projections/domain/orders/order-terms.ts";
import type { Rejection } from "#projections/domain/rejection.ts";
import type { ChainResults } from "#jobs/chain/query-chain.ts";
import { chainUnavailable } from "#jobs/orders/evaluate-order.ts";

export type MakerFunds = {
  counter: bigint;
  /** Of the chain's wrapped native currency. */
  balanceWei: bigint;
  /** To the exchange itself. */
  allowanceWei: bigint;
  /** Total of the maker's open bids. */
  openOffersWei: bigint;
};

/** Counter, balance and allowance of a bidder. */
export function makerFundsQueries(owner: Address, { currency }: MarketTerms) {
  return [
    { kind: "counter_read", maker: owner },
    { kind: "balance_read", currency, owner },
    { kind: "allowance_read", currency, owner },
  ] as const;
}

export function makerFundsFrom(
  results: ChainResults,
  owner: Address,
  { currency }: MarketTerms,
  openOffersWei: bigint,
): MakerFunds | Rejection<"rpc_unavailable"> {
  const counter = results.find({ kind: "counter_read", maker: owner })?.counter;
  const balanceWei = results.find({ kind: "balance_read", currency, owner })?.wei;
  const allowanceWei = results.find({ kind: "allowance_read", currency, owner })?.wei;
  if (counter === undefined || balanceWei === undefined || allowanceWei === undefined) {
    return chainUnavailable();
  }
  return { counter, balanceWei, allowanceWei, openOffersWei };
}
