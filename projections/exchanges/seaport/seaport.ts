import { type AbiEvent, type Address, zeroAddress } from "viem";
import { seaportEvents } from "#abis/seaport.ts";
import type { ExchangeSources } from "#chains/chain.ts";
import type { Exchange, ExchangeSource, ExchangeTransaction, Trade } from "../model/exchange.ts";
import {
  type FulfilledOrder,
  type OrdersMatched,
  type OrderTransaction,
  orderTransaction,
} from "./orders.ts";
import { type Flow, groupOrders, type PricedFlows, priceGroup, sellerOf } from "./pricing.ts";
import { selectSimpleSeaportSales } from "./simple-sales.ts";

/** Seaport's trades of a transaction, in the order of their makers' logs. */
function tradesOf(facts: ExchangeTransaction): Trade[] {
  const transaction = orderTransaction(facts);
  return transaction === null ? [] : tradesOfOrders(transaction);
}

export function tradesOfOrders(transaction: OrderTransaction): Trade[] {
  return settlements(transaction.orders, transaction.matches)
    .flatMap(groupOrders)
    .flatMap(priceGroup)
    .filter((priced) => !isMint(priced))
    .map((priced) => tradeOf(priced, transaction.sender))
    .sort((one, other) => one.logIndex - other.logIndex);
}

/** A contract that offers its own tokens through Seaport mints them. */
function isMint({ flows }: PricedFlows): boolean {
  return flows.some((flow) => sellerOf(flow) === flow.token);
}

function tradeOf({ flows, currency, totalWei, fees }: PricedFlows, sender: Address): Trade {
  const { maker, side } = makerOf(flows, sender);
  return {
    items: flows.map((flow) => ({
      contract: flow.token,
      tokenId: flow.identifier,
      standard: flow.standard,
      units: flow.units,
      seller: sellerOf(flow),
      buyer: flow.recipient,
    })),
    currency,
    totalWei,
    fees,
    side,
    exchange: maker.exchange,
    protocolVersion: maker.version,
    orderHash: maker.orderHash,
    logIndex: maker.logIndex,
    zones: flows
      .flatMap(({ giver, taker }) => [giver, taker])
      .flatMap((order) => (order === null ? [] : [order.zone])),
  };
}

/** Of two matched orders the maker's is the one that is not the caller's, else the earlier in the log. */
function makerOf(
  flows: readonly Flow[],
  sender: Address,
): { maker: FulfilledOrder; side: Trade["side"] } {
  const [flow] = flows;
  const maker = flow?.giver ?? flow?.taker;
  if (!flow || !maker) throw new Error("a trade without an order");
  const { giver, taker } = flow;
  if (!giver || !taker || giver === taker) return { maker, side: giver ? "ask" : "bid" };
  const isCallers = (order: FulfilledOrder) =>
    order.offerer === order.recipient || order.offerer === sender;
  const giverIsMaker =
    isCallers(giver) === isCallers(taker) ? giver.logIndex < taker.logIndex : isCallers(taker);
  return giverIsMaker ? { maker: giver, side: "ask" } : { maker: taker, side: "bid" };
}

/**
 * Orders that were settled against each other, each settlement in log order; an order filled directly is one by itself.
 * `OrdersMatched` names them where it is recorded. Elsewhere a match is a run of logs of one call that either has no
 * recipient (Seaport 1.1), as only a match has none, or are adjacent and contain the caller's own order.
 */
function settlements(
  orders: readonly FulfilledOrder[],
  matches: readonly OrdersMatched[],
): FulfilledOrder[][] {
  if (orders.length === 1) return [[...orders]];
  const taken = new Set<FulfilledOrder>();
  const found: FulfilledOrder[][] = [];
  for (const match of matches) {
    const members = matchedOrders(orders, match, taken);
    for (const order of members) taken.add(order);
    if (members.length > 0) found.push(members);
  }
  for (const run of adjacentRuns(orders.filter((order) => !taken.has(order)))) {
    if (isMatch(run)) found.push(run);
    else found.push(...run.map((order) => [order]));
  }
  return found;
}

/** The last fulfilments before the match's log that have its hashes; a hash may occur more than once. */
function matchedOrders(
  orders: readonly FulfilledOrder[],
  match: OrdersMatched,
  taken: ReadonlySet<FulfilledOrder>,
): FulfilledOrder[] {
  const wanted = [...match.orderHashes];
  const members: FulfilledOrder[] = [];
  for (const order of orders.toReversed()) {
    if (order.logIndex > match.logIndex || order.exchange !== match.exchange) continue;
    const index = taken.has(order) ? -1 : wanted.indexOf(order.orderHash);
    if (index < 0) continue;
    wanted.splice(index, 1);
    members.unshift(order);
  }
  return members;
}

function adjacentRuns(orders: readonly FulfilledOrder[]): FulfilledOrder[][] {
  const runs: FulfilledOrder[][] = [];
  for (const order of orders) {
    const run = runs.at(-1);
    const last = run?.at(-1);
    const continues =
      last !== undefined &&
      (order.recipient === zeroAddress || last.logIndex === order.logIndex - 1) &&
      last.exchange === order.exchange &&
      last.recipient === order.recipient;
    if (continues) run?.push(order);
    else runs.push([order]);
  }
  return runs;
}

function isMatch(run: readonly FulfilledOrder[]): boolean {
  return run.some(({ recipient, offerer }) => recipient === zeroAddress || recipient === offerer);
}

type EventName = Extract<(typeof seaportEvents)[number], { type: "event" }>["name"];

/** Orders are made for 1.6, whose events are all indexed. Of the older contracts fills are, and what matched them. */
export const seaportExchange: Exchange = {
  protocol: "seaport",
  sources: [
    source("Seaport", [
      ...(["OrderFulfilled", "OrderCancelled", "OrderValidated"] as const),
      ...(["OrdersMatched", "CounterIncremented"] as const),
    ]),
    source("SeaportLegacy", ["OrderFulfilled", "OrdersMatched"]),
  ],
  factKinds: ["order_fulfilled", "orders_matched"],
  tradesOf,
  hasNumberedSaleIds: true,
  selectSimpleSales: selectSimpleSeaportSales,
};

function source(name: ExchangeSources["seaport"], events: readonly EventName[]): ExchangeSource {
  return {
    name,
    events: events.map(eventNamed),
    eventsWithCall: ["OrderFulfilled"],
    deployed: ({ exchanges }) => exchanges.seaport[name],
  };
}

function eventNamed(name: EventName): AbiEvent {
  const event = seaportEvents.find((item) => item.type === "event" && item.name === name);
  if (event === undefined) throw new Error(`no event ${name} in Seaport's ABI`);
  return event;
}
