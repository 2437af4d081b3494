import { foundationEvents } from "#abis/foundation.ts";
import type { Exchange } from "../model/exchange.ts";
import { tradesOf } from "./trades.ts";

const trades = [
  ...["BuyPriceAccepted", "OfferAccepted", "PrivateSaleFinalized"],
  "ReserveAuctionFinalized",
];

export const foundation: Exchange = {
  protocol: "foundation",
  marketplace: "foundation",
  sources: [
    {
      name: "Foundation",
      events: foundationEvents,
      eventsWithCall: trades,
      eventsWithTransfers: trades,
      deployed: ({ exchanges }) => exchanges.foundation?.Foundation ?? null,
    },
  ],
  tradesOf,
};
