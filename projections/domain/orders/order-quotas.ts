import type { Address } from "viem";

/** How many orders strangers may keep in the book and add to it; each grows with trades and time. */
export type OrderQuotas = {
  /** Open orders of a maker who never traded. */
  readonly maker: number;
  /** Open orders on a contract that is neither traded nor verified. */
  readonly contract: number;
  /** Orders a day on all contracts of a chain that are neither traded nor verified, together. */
  readonly untradedPerDay: number;
  /** Orders a day of all makers on a chain who never traded, together. */
  readonly newcomersPerDay: number;
  /** How often a maker's open bids may exceed the balance that pays them. */
  readonly bidExposure: number;
};

export const defaultQuotas: OrderQuotas = {
  maker: 100,
  contract: 100,
  untradedPerDay: 2_400,
  newcomersPerDay: 10_000,
  bidExposure: 1_000,
};

/** Trades that are known of a maker or a contract. */
export type TradeHistory = { readonly trades: number; readonly firstTradeAt: Date | null };

export const noHistory: TradeHistory = { trades: 0, firstTradeAt: null };

/** Orders that each trade adds to a quota: a trade costs gas, and a fee. */
const perTrade = 20;
/** A quota doubles during these days after the first trade. */
const growthDays = 30;
const dayMs = 86_400_000;

/** Most open orders, with this history; `base` is the quota without one. */
export function openOrderQuota(base: number, history: TradeHistory, now: Date, max: number) {
  const { trades, firstTradeAt } = history;
  const ageDays = firstTradeAt === null ? 0 : (now.getTime() - firstTradeAt.getTime()) / dayMs;
  const growth = 1 + Math.min(Math.max(ageDays, 0), growthDays) / growthDays;
  return Math.min(Math.floor((base + perTrade * trades) * growth), max);
}

/** Orders that may be added at once (`capacity`) and on average. `address` is null where many share the budget. */
export type OrderBudget = {
  readonly subject: "maker" | "contract" | "untraded" | "newcomers";
  readonly address: Address | null;
  readonly capacity: number;
  readonly perSecond: number;
};

const daySeconds = 86_400;
/** New orders a day per open order of a quota: for those who change their prices often. */
const turnover = 10;

/** A budget of one maker or contract, from its quota of open orders. */
export function ownBudget(
  subject: "maker" | "contract",
  address: Address,
  quota: number,
): OrderBudget {
  return { subject, address, capacity: quota, perSecond: (quota * turnover) / daySeconds };
}

/** A budget that many share: an hour's orders at once. */
export function sharedBudget(subject: "untraded" | "newcomers", perDay: number): OrderBudget {
  return { subject, address: null, capacity: perDay / 24, perSecond: perDay / daySeconds };
}

/** What was charged to a budget, as of a time. */
export type Spending = { readonly spent: number; readonly spentAt: Date };

/** Seconds until one more order fits after `pending` ones; 0: it fits now. */
export function secondsUntilFree(
  { capacity, perSecond }: OrderBudget,
  spending: Spending | undefined,
  pending: number,
  now: Date,
): number {
  const elapsed = spending === undefined ? 0 : (now.getTime() - spending.spentAt.getTime()) / 1000;
  const left = Math.max(0, (spending?.spent ?? 0) - Math.max(0, elapsed) * perSecond);
  const excess = left + pending + 1 - capacity;
  if (excess <= 0) return 0;
  return perSecond === 0 ? daySeconds : Math.max(1, Math.ceil(excess / perSecond));
}
