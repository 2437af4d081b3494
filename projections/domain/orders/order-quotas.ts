import { type Hex, numberToHex } from "viem";

/** How many orders strangers may keep in the book and add to it; each grows with trades and time. */
export type OrderQuotas = {
  /** Open orders of a maker who never traded. */
  readonly maker: number;
  /** Open orders on a contract that is neither traded nor verified. */
  readonly contract: number;
  /** Listings a day on all contracts of a chain that are neither traded nor verified, together. */
  readonly untradedPerDay: number;
  /**
   * Listings a day of all makers on a chain who never traded, together, apart from those of verified collections; and as
   * many offers of each size.
   */
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

/** `listings` and `offers` never share a budget that others can use up. */
export type BudgetSubject =
  | "maker"
  | "contract"
  | "untraded"
  | "newcomers"
  | "newcomer offers"
  | "maker token sets"
  | "newcomer token sets"
  | `${"contract" | "contract offers" | "untraded" | "newcomers" | "newcomer offers" | "newcomer token sets"} share`;

/** Orders, or rows of token sets, that may be added at once (`capacity`) and on average. */
export type OrderBudget = {
  readonly subject: BudgetSubject;
  /** Bytes that tell budgets of a subject apart; null where all share one. */
  readonly key: Hex | null;
  readonly capacity: number;
  readonly perSecond: number;
};

const daySeconds = 86_400;
/** New orders a day per open order of a quota: for those who change their prices often. */
const turnover = 10;

/** A budget of one maker or contract, from its quota of open orders. */
export function ownBudget(
  subject: "maker" | "contract" | "contract offers share",
  key: Hex,
  quota: number,
): OrderBudget {
  return { subject, key, capacity: quota, perSecond: (quota * turnover) / daySeconds };
}

/** Rows of new token sets for each order of a budget. */
const rowsPerOrder = 25;

/** What a maker's new token sets may take, from its quota of open orders. */
export function ownRowBudget(key: Hex, quota: number): OrderBudget {
  const { capacity, perSecond } = ownBudget("maker", key, quota * rowsPerOrder);
  return { subject: "maker token sets", key, capacity, perSecond };
}

/** What new token sets of all makers who never traded may take, from their orders a day. */
export const sharedRowBudget = (ordersPerDay: number): OrderBudget =>
  sharedBudget("newcomer token sets", ordersPerDay * rowsPerOrder);

/** A budget that many share: an hour's orders at once. */
export function sharedBudget(
  subject: "untraded" | "newcomers" | "newcomer offers" | "newcomer token sets",
  perDay: number,
  key: Hex | null = null,
): OrderBudget {
  return { subject, key, capacity: perDay / 24, perSecond: perDay / daySeconds };
}

/** Of what many share, a network address may always use this part, whatever the others have used. */
const networkShare = 1 / 8;

/** The part of a budget that others cannot use up. `key`: of the network address, and of what the budget is for. */
export function shareOfBudget(budget: OrderBudget, subject: BudgetSubject, key: Hex): OrderBudget {
  const capacity = Math.max(1, Math.floor(budget.capacity * networkShare));
  return { subject, key, capacity, perSecond: budget.perSecond * networkShare };
}

/** What was charged to a budget, as of a time. */
export type Spending = { readonly spent: number; readonly spentAt: Date };

/**
 * Seconds until `amount` more fits after what is pending; 0: it fits now. More than the capacity fits where nothing is
 * spent, and is given back before anything else fits.
 */
export function secondsUntilFree(
  { capacity, perSecond }: OrderBudget,
  spending: Spending | undefined,
  { pending, amount }: { pending: number; amount: number },
  now: Date,
): number {
  const elapsed = spending === undefined ? 0 : (now.getTime() - spending.spentAt.getTime()) / 1000;
  const left = Math.max(0, (spending?.spent ?? 0) - Math.max(0, elapsed) * perSecond);
  const excess = left + pending + Math.min(amount, Math.max(1, capacity)) - capacity;
  if (excess <= 0) return 0;
  return perSecond === 0 ? daySeconds : Math.max(1, Math.ceil(excess / perSecond));
}

/** What decides how much an offer binds. All in wei, of the currency in which it pays. */
export type OfferFunds = {
  /** Of the whole offer. */
  readonly offerWei: bigint;
  readonly balanceWei: bigint;
  /** What the maker's other open offers may spend of the same balance. */
  readonly openBidsWei: bigint;
};

/** What an offer can really spend: its part of a balance that all open offers of its maker share. */
export function spendableWei({ offerWei, balanceWei, openBidsWei }: OfferFunds): bigint {
  const totalWei = offerWei + openBidsWei;
  return totalWei <= balanceWei ? offerWei : (offerWei * balanceWei) / totalWei;
}

/** An offer below this part of the lowest listing is far from a trade: nobody risks anything with it. */
const farFromFloor = 10n;
/** All offers below 10^14 wei count as equally small. */
const smallestDigits = 14;

/**
 * Whether an offer is so close to a trade that it needs no budget where the collection is verified: it is near the
 * lowest listing, and it is as good as its word.
 */
export function isSerious(unitPriceWei: bigint, floorWei: bigint | null, funds: OfferFunds) {
  const isCovered = spendableWei(funds) * farFromFloor >= funds.offerWei;
  return floorWei !== null && !isFar(unitPriceWei, floorWei) && isCovered;
}

const isFar = (unitPriceWei: bigint, floorWei: bigint | null) =>
  floorWei !== null && unitPriceWei * farFromFloor < floorWei;

/**
 * The class of size of an offer, whose offers share a budget: small ones never use up that of larger ones, nor those
 * far below the lowest listing that of those near it. One byte.
 */
export function offerSize(unitPriceWei: bigint, floorWei: bigint | null, funds: OfferFunds): Hex {
  const digits = Math.max(smallestDigits, `${spendableWei(funds)}`.length);
  return numberToHex(digits + (isFar(unitPriceWei, floorWei) ? 128 : 0), { size: 1 });
}
