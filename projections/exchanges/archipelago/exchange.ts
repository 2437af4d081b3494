import { archipelagoEvents } from "../../../abis/archipelago.ts";
import type { Exchange } from "../model/exchange.ts";
import { tradesOf } from "./trades.ts";

export const archipelago: Exchange = {
  protocol: "archipelago",
  marketplace: "archipelago",
  sources: [
    {
      name: "Archipelago",
      events: archipelagoEvents,
      eventsWithCall: ["Trade"],
      eventsWithTransfers: ["Trade"],
      chains: {
        1: {
          addresses: ["0x555598409fe9a72f0a5e423245c34555f6445555"],
          firstBlock: 14_500_000,
        },
      },
    },
  ],
  tradesOf,
};
