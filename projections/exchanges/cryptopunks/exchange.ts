import { cryptopunksEvents } from "#abis/cryptopunks.ts";
import type { Exchange } from "../model/exchange.ts";
import { tradesOf } from "./trades.ts";

/** Assignments, transfers and bids are facts of other kinds; `projections/log/recording/pools-and-punks.ts` makes the rest of them. */
export const cryptopunks: Exchange = {
  protocol: "cryptopunks",
  marketplace: "cryptopunks",
  sources: [
    {
      name: "CryptoPunks",
      events: cryptopunksEvents,
      eventsWithCall: ["PunkBought"],
      eventsWithTransfers: ["PunkBought"],
      deployed: ({ exchanges }) => exchanges.cryptopunks?.CryptoPunks ?? null,
      isEachWithTransfers: true,
    },
  ],
  tradesOf,
};
