import { raribleAssetEvents, raribleV1Events, raribleV2Events } from "#abis/rarible.ts";
import type { Exchange } from "../model/exchange.ts";
import { tradesOf } from "./trades.ts";

/** Two contracts, of which the second changed the arguments of its `Match`. */
export const rarible: Exchange = {
  protocol: "rarible",
  marketplace: "rarible",
  sources: [
    {
      name: "RaribleV1",
      events: raribleV1Events,
      eventsWithCall: ["Buy"],
      eventsWithTransfers: ["Buy"],
      deployed: ({ exchanges }) => exchanges.rarible?.RaribleV1 ?? null,
    },
    {
      name: "RaribleAssets",
      events: raribleAssetEvents,
      eventsWithCall: ["Match"],
      eventsWithTransfers: ["Match"],
      deployed: ({ exchanges }) => exchanges.rarible?.RaribleAssets ?? null,
    },
    {
      name: "RaribleV2",
      events: raribleV2Events,
      eventsWithCall: ["Match"],
      eventsWithTransfers: ["Match"],
      deployed: ({ exchanges }) => exchanges.rarible?.RaribleV2 ?? null,
    },
  ],
  tradesOf,
};
