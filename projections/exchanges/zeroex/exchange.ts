import { zeroexNftEvents } from "#abis/zeroex.ts";
import type { Exchange } from "../model/exchange.ts";
import { tradesOf } from "./trades.ts";

const trades = ["ERC721OrderFilled", "ERC1155OrderFilled"];

/** NFT orders of 0x v4. Its coin swaps are other events. */
export const zeroex: Exchange = {
  protocol: "0x",
  sources: [
    {
      name: "ZeroExNft",
      events: zeroexNftEvents,
      eventsWithCall: trades,
      eventsWithTransfers: trades,
      deployed: ({ exchanges }) => exchanges.zeroex?.ZeroExNft ?? null,
    },
  ],
  tradesOf,
};
