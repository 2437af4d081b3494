import type { Hex } from "viem";
import { seaportEvents } from "#abis/seaport.ts";
import type { ExchangeSources } from "#chains/chain.ts";
import {
  type Exchange,
  type ExchangeTransaction,
  eventsOf,
  type Fill,
  type PlacedEvent,
  sourceOf,
} from "../model/exchange.ts";
import type { FulfilledOrder, OrdersMatched } from "../seaport/orders.ts";
import { tradesOfOrders } from "../seaport/seaport.ts";

/** Trades of an exchange that emits Seaport's events, by Seaport's rules for 1.6. */
function tradesOf(transaction: ExchangeTransaction): Fill[] {
  const events = eventsOf(transaction);
  const fulfilled = events.filter(({ event }) => event === "OrderFulfilled");
  const [first] = fulfilled;
  if (first === undefined) return [];
  const { chainId, hash } = transaction;
  const { sender, calldataTail } = first;
  try {
    return tradesOfOrders({
      chainId,
      hash,
      calldataTail,
      sender: sender ?? first.contract,
      orders: fulfilled.map(fulfilledOrder),
      matches: events.filter(({ event }) => event === "OrdersMatched").map(ordersMatched),
    });
  } catch {
    return fulfilled.map(({ logIndex }) => ({ unresolved: "undecodable", logIndex }));
  }
}

function fulfilledOrder({ args, contract: exchange, logIndex }: PlacedEvent): FulfilledOrder {
  const order = args as Omit<FulfilledOrder, "exchange" | "version" | "logIndex">;
  return { ...order, exchange, version: "1.6", logIndex };
}

function ordersMatched({ args, contract: exchange, logIndex }: PlacedEvent): OrdersMatched {
  const { orderHashes } = args as { orderHashes: Hex[] };
  return { exchange, logIndex, orderHashes };
}

/** Mintify's exchange is Seaport 1.6 under another name. */
export const mintify = fork("mintify", "Mintify");
export const alienswap = fork("alienswap", "Alienswap");
export const okx = fork("okx", "Okx");

/** An exchange that emits Seaport's events. Its orders are not ours: the events have no kinds of their own. */
function fork<Name extends "mintify" | "alienswap" | "okx">(
  protocol: Name,
  name: ExchangeSources[Name],
): Exchange {
  const source = sourceOf(protocol, name, seaportEvents, []);
  const sources = [{ ...source, eventsWithCall: ["OrderFulfilled"] }];
  return { protocol, marketplace: protocol, sources, tradesOf };
}
