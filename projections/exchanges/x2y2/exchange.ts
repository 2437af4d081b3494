import { x2y2Events } from "#abis/x2y2.ts";
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
      deployed: ({ exchanges }) => exchanges.x2y2?.X2Y2 ?? null,
    },
  ],
  tradesOf,
};
