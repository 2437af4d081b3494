import type { Address } from "viem";
import { raribleAssetEvents, raribleV1Events, raribleV2Events } from "../../../abis/rarible.ts";
import type { Exchange } from "../model/exchange.ts";
import { tradesOf } from "./trades.ts";

const v1: Address = "0xcd4ec7b66fbc029c116ba9ffb3e59351c20b5b06";
const v2: Address = "0x9757f2d2b135150bbeb65308d4a91804107cd8d6";

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
      chains: { 1: { addresses: [v1], firstBlock: 11_200_000 } },
    },
    {
      name: "RaribleAssets",
      events: raribleAssetEvents,
      eventsWithCall: ["Match"],
      eventsWithTransfers: ["Match"],
      chains: { 1: { addresses: [v2], firstBlock: 12_500_000 } },
    },
    {
      name: "RaribleV2",
      events: raribleV2Events,
      eventsWithCall: ["Match"],
      eventsWithTransfers: ["Match"],
      chains: { 1: { addresses: [v2], firstBlock: 12_500_000 } },
    },
  ],
  tradesOf,
};
