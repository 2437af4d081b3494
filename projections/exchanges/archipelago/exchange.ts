import { archipelagoEvents } from "#abis/archipelago.ts";
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
      deployed: ({ exchanges }) => exchanges.archipelago?.Archipelago ?? null,
    },
  ],
  tradesOf,
};
