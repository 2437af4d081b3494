import { seaportEvents } from "#abis/seaport.ts";
import type { Exchange, ExchangeSource } from "../model/exchange.ts";
import { tradesOf } from "./trades.ts";

/** Mintify's exchange is Seaport 1.6 under another name. */
export const mintify = fork(
  "mintify",
  "Mintify",
  ({ exchanges }) => exchanges.mintify?.Mintify ?? null,
);

export const alienswap = fork(
  "alienswap",
  "Alienswap",
  ({ exchanges }) => exchanges.alienswap?.Alienswap ?? null,
);

export const okx = fork("okx", "Okx", ({ exchanges }) => exchanges.okx?.Okx ?? null);

/** An exchange that emits Seaport's events. Its orders are not ours: the events have no kinds of their own. */
function fork(protocol: string, name: string, deployed: ExchangeSource["deployed"]): Exchange {
  const source = { name, events: seaportEvents, eventsWithCall: ["OrderFulfilled"], deployed };
  return { protocol, marketplace: protocol, sources: [source], tradesOf };
}
