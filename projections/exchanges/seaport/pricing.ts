import { type Address, zeroAddress } from "viem";
import { type ChainId, chainIds, wrappedNative } from "#chains/index.ts";
import type { FeePayment, NftStandard } from "../model/exchange.ts";
import { apportion } from "../model/fees.ts";
import {
  type FulfilledOrder,
  isNft,
  type ReceivedItem,
  type SpentItem,
  standardOf,
} from "./orders.ts";

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

/** Units of an NFT that changed hands in a settlement. */
export type Flow = {
  readonly token: Address;
  readonly identifier: string;
  readonly standard: NftStandard;
  units: bigint;
  /** The order that offers them; null: the fulfiller gave them. */
  readonly giver: FulfilledOrder | null;
  /** The order that asks for them; null: the fulfiller took them. */
  readonly taker: FulfilledOrder | null;
  readonly recipient: Address;
};

/** The orders of a settlement that share NFTs, and the flows of those NFTs. */
type OrderGroup = {
  readonly orders: readonly FulfilledOrder[];
  readonly flows: readonly Flow[];
};

type Supply = {
  token: Address;
  identifier: string;
  standard: NftStandard;
  giver: FulfilledOrder;
  left: bigint;
};

/** NFTs of a settlement: what an order asks for is taken from the offered NFTs in log order, the rest from the fulfiller. */
function nftFlows(settlement: readonly FulfilledOrder[]): Flow[] {
  const flows: Flow[] = [];
  const supplies = settlement.flatMap(suppliesOf);
  for (const taker of settlement) {
    for (const item of taker.consideration) {
      if (isNft(item)) take(flows, supplies, taker, item);
    }
  }
  for (const { token, identifier, standard, giver, left } of supplies) {
    const { recipient } = giver;
    if (recipient === zeroAddress) continue; // in a match of 1.1 unclaimed NFTs stay with the offerer
    add(flows, { token, identifier, standard, units: left, giver, taker: null, recipient });
  }
  return flows;
}

function suppliesOf(giver: FulfilledOrder): Supply[] {
  return giver.offer.filter(isNft).map((item) => {
    const { token, identifier, amount } = item;
    return { token, identifier, standard: standardOf(item), giver, left: BigInt(amount) };
  });
}

function take(flows: Flow[], supplies: Supply[], taker: FulfilledOrder, item: ReceivedItem): void {
  const { token, identifier, recipient } = item;
  const standard = standardOf(item);
  let units = BigInt(item.amount);
  for (const supply of supplies) {
    const taken = takeFrom(supply, token, identifier, units);
    units -= taken;
    const { giver } = supply;
    add(flows, { token, identifier, standard, units: taken, giver, taker, recipient });
  }
  add(flows, { token, identifier, standard, units, giver: null, taker, recipient });
}

function takeFrom(supply: Supply, token: Address, identifier: string, units: bigint): bigint {
  if (supply.token !== token || supply.identifier !== identifier) return 0n;
  const taken = supply.left < units ? supply.left : units;
  supply.left -= taken;
  return taken;
}

/** Items that repeat an NFT between the same two orders and towards the same recipient are one flow. */
function add(flows: Flow[], flow: Flow): void {
  if (flow.units === 0n) return;
  const same = flows.find(
    ({ token, identifier, giver, taker, recipient }) =>
      token === flow.token &&
      identifier === flow.identifier &&
      giver === flow.giver &&
      taker === flow.taker &&
      recipient === flow.recipient,
  );
  if (same) same.units += flow.units;
  else flows.push(flow);
}

/**
 * Groups of a settlement's orders that share no NFT. Orders without any NFT belong to the group if there is only one.
 * Matched orders fill each other completely: where a fulfiller gave something, each order was filled separately.
 */
export function groupOrders(settlement: readonly FulfilledOrder[]): OrderGroup[] {
  const flows = nftFlows(settlement);
  if (settlement.length === 1) return flows.length > 0 ? [{ orders: settlement, flows }] : [];
  if (flows.some(({ giver }) => giver === null)) {
    return settlement.flatMap((order) => groupOrders([order]));
  }
  const groups: { orders: Set<FulfilledOrder>; flows: Flow[] }[] = [];
  for (const flow of flows) {
    const ends = [flow.giver, flow.taker].filter((order) => order !== null);
    const merged = { orders: new Set(ends), flows: [flow] };
    for (const group of groups.filter(({ orders }) => ends.some((end) => orders.has(end)))) {
      for (const order of group.orders) merged.orders.add(order);
      merged.flows.unshift(...group.flows);
      groups.splice(groups.indexOf(group), 1);
    }
    groups.push(merged);
  }
  if (groups.length === 1) return [{ orders: settlement, flows }];
  return groups.map((group) => ({
    orders: settlement.filter((order) => group.orders.has(order)),
    flows: flows.filter((flow) => group.flows.includes(flow)),
  }));
}

const wrapped: ReadonlySet<string> = new Set(chainIds.map((id: ChainId) => wrappedNative[id]));

/** The native currency is the zero address. */
function isCurrency(item: SpentItem): boolean {
  return !isNft(item);
}

/** Wei of `currency` in the items. The native currency and its wrapped form count as one. */
function sumOf(items: readonly SpentItem[], currency: Address): bigint {
  let sum = 0n;
  for (const item of items) if (isPaidIn(item, currency)) sum += BigInt(item.amount);
  return sum;
}

function isPaidIn(item: SpentItem, currency: Address): boolean {
  return isCurrency(item) && canonical(item.token) === canonical(currency);
}

function canonical(currency: Address): Address {
  return wrapped.has(currency) ? zeroAddress : currency;
}
