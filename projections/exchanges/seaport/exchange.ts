import type { AbiEvent } from "viem";
import { seaport as contracts, seaportDeploymentBlock } from "../../../abis/deployments.ts";
import { seaportEvents } from "../../../abis/seaport.ts";
import type { Exchange, ExchangeSource } from "../model/exchange.ts";
import { selectSimpleSales } from "./simple-sales.ts";
import { tradesOf } from "./trades.ts";

type EventName = Extract<(typeof seaportEvents)[number], { type: "event" }>["name"];

/** Orders are made for 1.6, whose events are all indexed. Of the older contracts fills are, and what matched them. */
export const seaport: Exchange = {
  protocol: "seaport",
  sources: [
    source(
      "Seaport",
      ["1.6"],
      [
        ...(["OrderFulfilled", "OrderCancelled", "OrderValidated"] as const),
        ...(["OrdersMatched", "CounterIncremented"] as const),
      ],
    ),
    source("SeaportLegacy", ["1.1", "1.4", "1.5"], ["OrderFulfilled", "OrdersMatched"]),
  ],
  factKinds: ["order_fulfilled", "orders_matched"],
  tradesOf,
  hasNumberedSaleIds: true,
  selectSimpleSales,
};

function source(
  name: string,
  versions: readonly (keyof typeof contracts)[],
  events: readonly EventName[],
): ExchangeSource {
  const addresses = versions.map((version) => contracts[version]);
  return {
    name,
    events: events.map(eventNamed),
    eventsWithCall: ["OrderFulfilled"],
    chains: {
      1: { addresses, firstBlock: seaportDeploymentBlock[1] },
      33139: { addresses, firstBlock: seaportDeploymentBlock[33139] },
    },
  };
}

function eventNamed(name: EventName): AbiEvent {
  const event = seaportEvents.find((item) => item.type === "event" && item.name === name);
  if (event === undefined) throw new Error(`no event ${name} in Seaport's ABI`);
  return event;
}
