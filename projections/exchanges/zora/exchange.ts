import { zoraAsksEvents, zoraAuctionEvents } from "../../../abis/zora.ts";
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
      chains: {
        1: {
          addresses: ["0x6170b3c3a54c3d8c854934cbc314ed479b2b29a3"],
          firstBlock: 13_800_000,
        },
      },
    },
    {
      name: "ZoraAuctions",
      events: zoraAuctionEvents,
      eventsWithCall: ["AuctionEnded"],
      eventsWithTransfers: ["AuctionEnded"],
      chains: {
        1: {
          addresses: ["0xe468ce99444174bd3bbbed09209577d25d1ad673"],
          firstBlock: 11_900_000,
        },
      },
    },
  ],
  tradesOf,
};
