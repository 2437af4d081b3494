import { x2y2Events } from "../../../abis/x2y2.ts";
import type { Exchange } from "../model/exchange.ts";
import { tradesOf } from "./trades.ts";

export const x2y2: Exchange = {
  protocol: "x2y2",
  marketplace: "x2y2",
  sources: [
    {
      name: "X2Y2",
      events: x2y2Events,
      eventsWithCall: ["EvInventory"],
      eventsWithTransfers: ["EvInventory"],
      chains: {
        1: {
          addresses: ["0x74312363e45dcaba76c59ec49a7aa8a65a67eed3"],
          firstBlock: 14_130_000,
        },
      },
    },
  ],
  tradesOf,
};
