import { zeroexNftEvents } from "../../../abis/zeroex.ts";
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
      chains: {
        1: {
          addresses: ["0xdef1c0ded9bec7f1a1670819833240f027b25eff"],
          firstBlock: 13_900_000,
        },
      },
    },
  ],
  tradesOf,
};
