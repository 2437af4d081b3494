import { looksrareV1Events, looksrareV2Events } from "../../../abis/looksrare.ts";
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
      chains: {
        1: {
          addresses: ["0x59728544b08ab483533076417fbbb2fd0b17ce3a"],
          firstBlock: 13_885_000,
        },
      },
    },
    {
      name: "LooksRareV2",
      events: looksrareV2Events,
      eventsWithCall: trades,
      eventsWithTransfers: trades,
      chains: {
        1: {
          addresses: ["0x0000000000e655fae4d56241588680f86e3b2377"],
          firstBlock: 16_900_000,
        },
      },
    },
  ],
  tradesOf,
};
