import type { AbiEvent, Address } from "viem";
import { wyvernEvents } from "../../../abis/wyvern.ts";
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
  sources: [
    source("WyvernV1", v1Events, "0x7be8076f4ea4a4ad08075c2508e481d6c946d12b", 5_774_000),
    source("WyvernV2", nonceEvents, "0x7f268357a8c2552623316e2562d90e642bb538e5", 14_100_000),
  ],
  tradesOf,
};

function source(
  name: string,
  events: readonly AbiEvent[],
  address: Address,
  firstBlock: number,
): ExchangeSource {
  return {
    name,
    events,
    eventsWithCall: ["OrdersMatched"],
    eventsWithTransfers: ["OrdersMatched"],
    chains: { 1: { addresses: [address], firstBlock } },
  };
}
