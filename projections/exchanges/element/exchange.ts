import type { AbiEvent } from "viem";
import { elementEvents, elementFeeEvents } from "#abis/element.ts";
import type { ExchangeSources } from "#chains/chain.ts";
import type { Exchange, ExchangeSource } from "../model/exchange.ts";
import { tradesOf } from "./trades.ts";

/** One contract, whose events got new arguments. */
export const element: Exchange = {
  protocol: "element",
  marketplace: "element",
  sources: [source("Element", elementEvents), source("ElementFees", elementFeeEvents)],
  tradesOf,
};

function source(name: ExchangeSources["element"], events: readonly AbiEvent[]): ExchangeSource {
  const trades = events.map((event) => event.name);
  return {
    name,
    events,
    eventsWithCall: trades,
    eventsWithTransfers: trades,
    deployed: ({ exchanges }) => exchanges.element?.[name] ?? null,
  };
}
