import type { AbiEvent } from "viem";
import { elementEvents, elementFeeEvents } from "../../../abis/element.ts";
import type { Exchange, ExchangeSource } from "../model/exchange.ts";
import { tradesOf } from "./trades.ts";

/** One contract, whose events got new arguments. */
export const element: Exchange = {
  protocol: "element",
  marketplace: "element",
  sources: [source("Element", elementEvents), source("ElementFees", elementFeeEvents)],
  tradesOf,
};

function source(name: string, events: readonly AbiEvent[]): ExchangeSource {
  const trades = events.map((event) => event.name);
  return {
    name,
    events,
    eventsWithCall: trades,
    eventsWithTransfers: trades,
    chains: {
      1: { addresses: ["0x20f780a973856b93f63670377900c1d2a50a77c4"], firstBlock: 14_700_000 },
    },
  };
}
