import type { AbiEvent } from "viem";
import { wyvernEvents } from "#abis/wyvern.ts";
import type { ExchangeSources } from "#chains/chain.ts";
import type { Exchange, ExchangeSource } from "../model/exchange.ts";
import { tradesOf } from "./trades.ts";

const [v1Events, nonceEvents] = [
  wyvernEvents.filter(({ name }) => name !== "NonceIncremented"),
  wyvernEvents,
];

/** OpenSea's exchange before Seaport. */
export const wyvern: Exchange = {
  protocol: "wyvern",
  marketplace: "opensea",
  sources: [source("WyvernV1", v1Events), source("WyvernV2", nonceEvents)],
  tradesOf,
};

function source(name: ExchangeSources["wyvern"], events: readonly AbiEvent[]): ExchangeSource {
  return {
    name,
    events,
    eventsWithCall: ["OrdersMatched"],
    eventsWithTransfers: ["OrdersMatched"],
    deployed: ({ exchanges }) => exchanges.wyvern?.[name] ?? null,
  };
}
