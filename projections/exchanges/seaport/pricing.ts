import { type Address, zeroAddress } from "viem";
import { apportion } from "../model/apportion.ts";
import type { FeePayment } from "../model/trade.ts";
import { isCurrency, isPaidIn, sumOf } from "./currency.ts";
import type { Flow, OrderGroup } from "./flows.ts";
import type { FulfilledOrder, ReceivedItem } from "./order-facts.ts";

/** Flows of NFTs that one price was paid for. */
export type PricedFlows = {
  readonly flows: readonly Flow[];
  readonly currency: Address;
  readonly totalWei: bigint;
  /** Currency that did not reach the seller. */
  readonly fees: readonly FeePayment[];
};

type Parties = {
  /** Orders that offer NFTs. */
  readonly givers: readonly FulfilledOrder[];
  /** Orders that ask for NFTs they do not offer. */
  readonly takers: readonly FulfilledOrder[];
};

/** Prices of a group; none when NFTs went both ways, which is barter. */
export function priceGroup(group: OrderGroup): PricedFlows[] {
  const { givers, takers } = partiesOf(group.flows);
  if (takers.some((taker) => givers.includes(taker))) return [];
  const currency = currencyOf(group, givers);
  const price = priceOf(group, givers, currency);
  const byTaker =
    givers.length === 0 ||
    (givers.length === 1 &&
      takers.length > 1 &&
      group.flows.every(({ taker }) => taker && takers.includes(taker)));
  const keys = byTaker ? takers : givers;
  const shares = keys.map((key) => sumOf(byTaker ? key.offer : key.consideration, currency));
  const extras = apportion(price.totalWei - shares.reduce((sum, share) => sum + share, 0n), shares);
  return keys.map((key, index) => {
    const flows = group.flows.filter((flow) => (byTaker ? flow.taker : flow.giver) === key);
    const part = (wei: bigint) => apportion(wei, shares)[index] ?? 0n;
    const legs = group.orders
      .filter((order) => order === key || !keys.includes(order))
      .flatMap((order) => legsOf(order, currency, order === key ? (wei) => wei : part));
    return {
      flows,
      currency,
      totalWei: (shares[index] ?? 0n) + (extras[index] ?? 0n),
      fees: withoutProceeds(legs, sellersOf(flows), price.isSumOfLegs),
    };
  });
}

export function sellerOf(flow: Flow): Address {
  return flow.giver?.offerer ?? flow.taker?.recipient ?? zeroAddress;
}

function sellersOf(flows: readonly Flow[]): ReadonlySet<Address> {
  return new Set(flows.map(sellerOf));
}

function partiesOf(flows: readonly Flow[]): Parties {
  const givers = new Set<FulfilledOrder>();
  const takers = new Set<FulfilledOrder>();
  for (const { giver, taker } of flows) {
    if (giver) givers.add(giver);
    if (taker && taker !== giver) takers.add(taker);
  }
  return { givers: [...givers], takers: [...takers] };
}

/** What the seller is paid in, else what the buyer offers, else what anybody is paid in. */
function currencyOf({ orders }: OrderGroup, givers: readonly FulfilledOrder[]): Address {
  const toSeller = givers.flatMap(({ offerer, consideration }) =>
    consideration.filter((item) => item.recipient === offerer),
  );
  const offered = orders.filter((order) => !givers.includes(order)).flatMap(({ offer }) => offer);
  const received = orders.flatMap(({ consideration }) => consideration);
  return [...toSeller, ...offered, ...received].find(isCurrency)?.token ?? zeroAddress;
}

/**
 * What buyers pay. An order that sells is paid for with everything it asks. Orders that buy pay what they offer,
 * less what comes back to them: in matches of 1.1, and where the buyer receives the match's change.
 */
function priceOf(
  { orders }: OrderGroup,
  givers: readonly FulfilledOrder[],
  currency: Address,
): { totalWei: bigint; isSumOfLegs: boolean } {
  const payers = orders.filter(
    (order) => !givers.includes(order) && sumOf(order.offer, currency) > 0n,
  );
  const offered = payers.reduce((sum, { offer }) => sum + sumOf(offer, currency), 0n);
  if (givers.length === 0) return { totalWei: offered, isSumOfLegs: false };
  const owed = orders.reduce((sum, order) => sum + sumOf(order.consideration, currency), 0n);
  const change = payers.every(
    ({ version, recipient, offerer }) => version === "1.1" || recipient === offerer,
  );
  const isSumOfLegs = change || offered <= owed;
  return { totalWei: isSumOfLegs ? owed : offered, isSumOfLegs };
}

function legsOf(
  { consideration }: FulfilledOrder,
  currency: Address,
  part: (wei: bigint) => bigint,
): FeePayment[] {
  return consideration
    .filter((item: ReceivedItem) => isPaidIn(item, currency))
    .map(({ recipient, amount }) => ({ recipient, wei: part(BigInt(amount)) }));
}

/** Leaves out what the seller gets. A seller who is paid elsewhere gets the largest leg. */
function withoutProceeds(
  legs: readonly FeePayment[],
  sellers: ReadonlySet<Address>,
  isSumOfLegs: boolean,
): FeePayment[] {
  const fees = legs.filter(({ recipient }) => !sellers.has(recipient));
  if (!isSumOfLegs || fees.length < legs.length) return fees;
  const proceeds = fees.reduce<FeePayment | undefined>(
    (largest, leg) => (largest && largest.wei >= leg.wei ? largest : leg),
    undefined,
  );
  return fees.filter((leg) => leg !== proceeds);
}
