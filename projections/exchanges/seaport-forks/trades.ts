import type { Hex } from "viem";
import type { ExchangeTransaction } from "../model/exchange.ts";
import type { Fill } from "../model/trade.ts";
import { type EmittedEvent, eventsOf } from "../model/translate-events.ts";
import type { FulfilledOrder, OrdersMatched } from "../seaport/order-facts.ts";
import { tradesOfOrders } from "../seaport/trades.ts";

/** Trades of an exchange that emits Seaport's events, by Seaport's rules for 1.6. */
export function tradesOf(transaction: ExchangeTransaction): Fill[] {
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

function fulfilledOrder({ args, contract: exchange, logIndex }: EmittedEvent): FulfilledOrder {
  const order = args as Omit<FulfilledOrder, "exchange" | "version" | "logIndex">;
  return { ...order, exchange, version: "1.6", logIndex };
}

function ordersMatched({ args, contract: exchange, logIndex }: EmittedEvent): OrdersMatched {
  const { orderHashes } = args as { orderHashes: Hex[] };
  return { exchange, logIndex, orderHashes };
}
