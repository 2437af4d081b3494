import type { Address } from "viem";
import { type IntakeCode, rejectField } from "#projections/domain/intake-codes.ts";
import {
  type BudgetSubject,
  isSerious,
  noHistory,
  type OfferFunds,
  type OrderBudget,
  type OrderQuotas,
  offerSize,
  openOrderQuota,
  ownBudget,
  ownRowBudget,
  secondsUntilFree,
  sharedBudget,
  sharedRowBudget,
  shareOfBudget,
} from "#projections/domain/orders/order-quotas.ts";
import type { ParsedOrder } from "#projections/domain/orders/order-terms.ts";
import type { OwnListing } from "#projections/domain/orders/validate-state.ts";
import type { Rejection } from "#projections/domain/rejection.ts";
import { nameOfTokenSet } from "#projections/orders/token-sets.ts";
import { budgetKey, type Charge, networkKey, type StoredQuotas } from "./makers.ts";

/** Whatever the history: what one maker or contract may cost. */
const maxOpenOrders = { maker: 10_000, contract: 1_000_000 };

/** `network`: the address that the order came from, or the account; null: nobody knows, and it has no share. */
export type QuotaContext = {
  quotas: OrderQuotas;
  stored: StoredQuotas;
  batchTotals: BatchTotals;
  funds: Omit<OfferFunds, "offerWei">;
  network: string | null;
  /** What storing the order's tokens takes; 0: they are stored, or it names no set. */
  newRows: number;
  now: Date;
};

/** `share`: what the order's network address may use of it even where others have used it up. */
type SharedBudget = { budget: OrderBudget; share: OrderBudget | null };

type Quotas = {
  maker: number;
  /** Open listings of the contract, or makers who outbid an offer on it; null: without limit. */
  contract: { quota: number; share: OrderBudget | null } | null;
  own: OrderBudget;
  shared: SharedBudget[];
  /** For the rows of a new set of tokens. */
  ofRows: SharedBudget[];
};

/** The quotas that an order falls under, and the budgets that it is charged to. */
function quotasOf(order: ParsedOrder, context: QuotaContext): Quotas {
  const { maker } = order;
  const { quotas, stored, now } = context;
  const makerHistory = stored.makers.get(maker) ?? noHistory;
  const ofMaker = openOrderQuota(quotas.maker, makerHistory, now, maxOpenOrders.maker);
  const isNewcomer = makerHistory.trades === 0;
  return {
    ...{ maker: ofMaker, own: ownBudget("maker", maker, ofMaker) },
    ...sharedQuotasOf(order, isNewcomer, context),
    ofRows: rowBudgetsOf(maker, { quota: ofMaker, isNewcomer }, context),
  };
}

/** What the order shares with those of other makers. */
function sharedQuotasOf(
  order: ParsedOrder,
  isNewcomer: boolean,
  context: QuotaContext,
): Pick<Quotas, "contract" | "shared"> {
  const { contract } = order;
  const { quotas, stored, now, network } = context;
  const history = stored.contracts.get(contract);
  const isOffer = order.side === "bid";
  if (history?.isVerified === true) {
    const shared = isOffer && isNewcomer ? newcomerOffers(order, context) : [];
    return { contract: null, shared };
  }
  const quota = openOrderQuota(quotas.contract, history ?? noHistory, now, maxOpenOrders.contract);
  const ofContract = ownBudget("contract", contract, quota);
  const shareOfContract = (subject: BudgetSubject) =>
    network === null ? null : shareOfBudget(ofContract, subject, networkKey(network, contract));
  if (isOffer) {
    const share = shareOfContract("contract offers share");
    const shared = isNewcomer ? newcomerOffers(order, context) : [];
    return { contract: { quota, share }, shared };
  }
  const share = shareOfContract("contract share");
  const shared = [
    { budget: ofContract, share },
    ...((history?.trades ?? 0) === 0
      ? [withShare(sharedBudget("untraded", quotas.untradedPerDay), network)]
      : []),
    ...(isNewcomer ? [withShare(sharedBudget("newcomers", quotas.newcomersPerDay), network)] : []),
  ];
  return { contract: { quota, share }, shared };
}

function rowBudgetsOf(
  maker: Address,
  { quota, isNewcomer }: { quota: number; isNewcomer: boolean },
  { quotas, network, newRows }: QuotaContext,
): SharedBudget[] {
  if (newRows === 0) return [];
  const own = { budget: ownRowBudget(maker, quota), share: null };
  return isNewcomer ? [own, withShare(sharedRowBudget(quotas.newcomersPerDay), network)] : [own];
}

/** Offers of makers who never traded share a budget with those of their size only. */
function newcomerOffers(order: ParsedOrder, context: QuotaContext): SharedBudget[] {
  const { quotas, stored, network } = context;
  const { unitPriceWei, quantity, contract } = order;
  const history = stored.contracts.get(contract);
  const floorWei = history?.floorWei ?? null;
  const funds = { ...context.funds, offerWei: unitPriceWei * quantity };
  if (history?.isVerified === true && isSerious(unitPriceWei, floorWei, funds)) return [];
  const size = offerSize(unitPriceWei, floorWei, funds);
  return [withShare(sharedBudget("newcomer offers", quotas.newcomersPerDay, size), network)];
}

function withShare(budget: OrderBudget, network: string | null): SharedBudget {
  if (network === null) return { budget, share: null };
  const subject = `${budget.subject} share` as BudgetSubject;
  return { budget, share: shareOfBudget(budget, subject, networkKey(network)) };
}

/** What an accepted order is charged to. */
export function chargesOf(order: ParsedOrder, context: QuotaContext): Charge[] {
  const { own, shared, contract, ofRows } = quotasOf(order, context);
  const charges = (budgets: readonly (OrderBudget | null)[], amount: number) =>
    budgets.flatMap((budget) => (budget === null ? [] : [{ budget, amount }]));
  const all = [
    ...charges([own, ...shared.flatMap(bothOf), contract?.share ?? null], 1),
    ...charges(ofRows.flatMap(bothOf), context.newRows),
  ];
  return [...new Map(all.map((one) => [budgetKey(one.budget), one])).values()];
}

const bothOf = ({ budget, share }: SharedBudget) => [budget, share];

/** Whether one more order of this maker and contract fits. */
export function validateQuotas(
  order: ParsedOrder,
  context: QuotaContext,
): Rejection<IntakeCode> | null {
  const quotas = quotasOf(order, context);
  return validateOpenOrders(order, quotas, context) ?? validateBudgets(quotas, context);
}

function validateOpenOrders(
  order: ParsedOrder,
  { maker, contract }: Quotas,
  context: QuotaContext,
): Rejection<IntakeCode> | null {
  const { stored, batchTotals } = context;
  const ofMaker = (stored.openOfMakers.get(order.maker) ?? 0) + batchTotals.orders(order.maker);
  if (ofMaker >= maker) return tooMany("the maker", "parameters.offerer", ofMaker, maker);
  if (contract === null) return null;
  const hasShare = contract.share !== null && waitFor(contract.share, 1, context) === 0;
  return hasShare ? null : validateContract(order, contract.quota, context);
}

function validateBudgets(
  { own, shared, ofRows }: Quotas,
  context: QuotaContext,
): Rejection<IntakeCode> | null {
  for (const one of [{ budget: own, share: null }, ...shared]) {
    const wait = waitForShared(one, 1, context);
    if (wait > 0) return rateLimited(one.budget, wait);
  }
  for (const one of ofRows) {
    const wait = waitForShared(one, context.newRows, context);
    if (wait > 0) return setsLimited(one.budget, wait);
  }
  return null;
}

/** Seconds until so much more fits into a budget; 0: it fits now. */
function waitFor(budget: OrderBudget, amount: number, context: QuotaContext): number {
  const { stored, batchTotals, now } = context;
  const spending = stored.spending.get(budgetKey(budget));
  return secondsUntilFree(budget, spending, { pending: batchTotals.charged(budget), amount }, now);
}

function waitForShared({ budget, share }: SharedBudget, amount: number, context: QuotaContext) {
  const hasShare = share !== null && waitFor(share, amount, context) === 0;
  return hasShare ? 0 : waitFor(budget, amount, context);
}

/** Listings of a contract have a number of their own; an offer is refused only where that many makers outbid it. */
function validateContract(
  order: ParsedOrder,
  quota: number,
  { stored, batchTotals }: QuotaContext,
): Rejection<IntakeCode> | null {
  const { contract, orderHash } = order;
  const field = "parameters";
  if (order.side === "ask") {
    const open = stored.contracts.get(contract)?.openListings ?? 0;
    const listings = open + batchTotals.contractListings(contract);
    return listings < quota ? null : tooMany(`the contract ${contract}`, field, listings, quota);
  }
  const makers = (stored.higherBidders.get(orderHash) ?? 0) + batchTotals.higherBidders(order);
  if (makers < quota) return null;
  return rejectField("too_many_open_orders", {
    field,
    expected: `an offer above those of at least all but ${quota} makers`,
    actual: `${makers} makers who offer as much`,
    message: `${makers} makers offer as much or more for the contract ${contract}; at present the maximum is ${quota}: offer more`,
  });
}

function tooMany(whose: string, field: string, open: number, most: number) {
  return rejectField("too_many_open_orders", {
    field,
    expected: `at most ${most} open orders`,
    actual: `${open}`,
    message: `${whose} has ${open} open orders; at present the maximum is ${most}, which grows with trades`,
  });
}

const descriptions: Readonly<Partial<Record<BudgetSubject, string>>> = {
  maker: "of this maker",
  contract: "for this contract",
  untraded: "for contracts that were never traded",
  newcomers: "of makers who never traded",
  "newcomer offers": "of this size by makers who never traded",
};

function rateLimited({ subject }: OrderBudget, wait: number): Rejection<IntakeCode> {
  const isMakers = subject !== "contract" && subject !== "untraded";
  const message = `too many new orders ${descriptions[subject] ?? ""}: the next one is accepted in ${wait} s`;
  return {
    ...rejectField("rate_limited", {
      field: isMakers ? "parameters.offerer" : "parameters",
      expected: "new orders within the budget",
      actual: "more at present",
      message,
    }),
    retryAfterSeconds: wait,
  };
}

function setsLimited({ subject }: OrderBudget, wait: number): Rejection<IntakeCode> {
  const whose = subject === "maker token sets" ? "of this maker" : "of makers who never traded";
  return {
    ...rejectField("rate_limited", {
      field: "criteria.tokenIds",
      expected: "new lists of tokens within the budget",
      actual: "more at present",
      message: `too many new lists of tokens ${whose}: this one is accepted in ${wait} s; one that an offer was for before needs no wait, nor does an offer on the collection or on one token`,
    }),
    retryAfterSeconds: wait,
  };
}

/** Totals of the orders accepted so far in the current batch, which no projection contains yet. */
export type BatchTotals = {
  /** The cheapest listing of the same token by the same maker. */
  cheapest(order: ParsedOrder): OwnListing | null;
  bidWei(maker: Address): bigint;
  orders(maker: Address): number;
  contractListings(contract: Address): number;
  /** Other makers who bid on the contract at this price or above. */
  higherBidders(order: ParsedOrder): number;
  /** Orders, or rows of token sets, charged to a budget. */
  charged(budget: OrderBudget): number;
  charges(): readonly Charge[];
  /** Whether one of the orders is for this set of tokens, by `nameOfTokenSet`. */
  hasTokenSet(name: string): boolean;
  add(order: ParsedOrder, charged: readonly Charge[]): void;
};

export function createBatchTotals(): BatchTotals {
  const listings = new Map<string, OwnListing>();
  const wei = new Map<Address, bigint>();
  const counts = new Map<Address, number>();
  const contracts = new Map<Address, number>();
  const bids: ParsedOrder[] = [];
  const charges = new Map<string, Charge>();
  const tokenSets = new Set<string>();
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
    charged: (budget) => charges.get(budgetKey(budget))?.amount ?? 0,
    charges: () => [...charges.values()],
    hasTokenSet: (name) => tokenSets.has(name),
    add(order, charged) {
      const { side, components, orderHash, unitPriceWei, quantity, contract, criteria } = order;
      const maker = components.offerer;
      for (const charge of charged) addCharge(charges, charge);
      if (criteria !== undefined) tokenSets.add(nameOfTokenSet({ contract, root: criteria.root }));
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

function addCharge(charges: Map<string, Charge>, { budget, amount }: Charge): void {
  const key = budgetKey(budget);
  charges.set(key, { budget, amount: (charges.get(key)?.amount ?? 0) + amount });
}

const tokenOf = ({ components, contract, tokenId }: ParsedOrder): string =>
  `${components.offerer} ${contract} ${tokenId}`;
