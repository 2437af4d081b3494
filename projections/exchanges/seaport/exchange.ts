import type { AbiEvent } from "viem";
import { seaportEvents } from "#abis/seaport.ts";
import type { ExchangeSources } from "#chains/chain.ts";
import type { Exchange, ExchangeSource } from "../model/exchange.ts";
import { selectSimpleSales } from "./simple-sales.ts";
import { tradesOf } from "./trades.ts";

type EventName = Extract<(typeof seaportEvents)[number], { type: "event" }>["name"];

/** Orders are made for 1.6, whose events are all indexed. Of the older contracts fills are, and what matched them. */
export const seaport: Exchange = {
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
  selectSimpleSales,
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
