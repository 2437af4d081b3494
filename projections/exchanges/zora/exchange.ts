import { zoraAsksEvents, zoraAuctionEvents } from "#abis/zora.ts";
import type { Exchange } from "../model/exchange.ts";
import { tradesOf } from "./trades.ts";

/** Asks of the third version, and the auction house. */
export const zora: Exchange = {
  protocol: "zora",
  marketplace: "zora",
  sources: [
    {
      name: "ZoraAsks",
      events: zoraAsksEvents,
      eventsWithCall: ["AskFilled"],
      eventsWithTransfers: ["AskFilled"],
      deployed: ({ exchanges }) => exchanges.zora?.ZoraAsks ?? null,
    },
    {
      name: "ZoraAuctions",
      events: zoraAuctionEvents,
      eventsWithCall: ["AuctionEnded"],
      eventsWithTransfers: ["AuctionEnded"],
      deployed: ({ exchanges }) => exchanges.zora?.ZoraAuctions ?? null,
    },
  ],
  tradesOf,
};
