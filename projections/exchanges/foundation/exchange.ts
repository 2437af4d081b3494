import { foundationEvents } from "../../../abis/foundation.ts";
import type { Exchange } from "../model/exchange.ts";
import { foundationMarket, tradesOf } from "./trades.ts";

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
      chains: { 1: { addresses: [foundationMarket], firstBlock: 11_600_000 } },
    },
  ],
  tradesOf,
};
