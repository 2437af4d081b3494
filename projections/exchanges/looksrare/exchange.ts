import { looksrareV1Events, looksrareV2Events } from "#abis/looksrare.ts";
import type { Exchange } from "../model/exchange.ts";
import { tradesOf } from "./trades.ts";

const trades = ["TakerAsk", "TakerBid"];

/** Two contracts with events of the same names. */
export const looksrare: Exchange = {
  protocol: "looksrare",
  marketplace: "looksrare",
  sources: [
    {
      name: "LooksRareV1",
      events: looksrareV1Events,
      eventsWithCall: trades,
      eventsWithTransfers: trades,
      deployed: ({ exchanges }) => exchanges.looksrare?.LooksRareV1 ?? null,
    },
    {
      name: "LooksRareV2",
      events: looksrareV2Events,
      eventsWithCall: trades,
      eventsWithTransfers: trades,
      deployed: ({ exchanges }) => exchanges.looksrare?.LooksRareV2 ?? null,
    },
  ],
  tradesOf,
};
