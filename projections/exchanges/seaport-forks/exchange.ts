import type { Address } from "viem";
import { seaportEvents } from "../../../abis/seaport.ts";
import type { Exchange, ExchangeSource } from "../model/exchange.ts";
import { tradesOf } from "./trades.ts";

/** Mintify's exchange is Seaport 1.6 under another name. */
export const mintify = fork("mintify", "Mintify", {
  ...deployed("0x00000003cf2c206e1fda7fd032b2f9bde12ec6cc", { 1: 19_400_000, 33139: 0 }),
});

export const alienswap = fork("alienswap", "Alienswap", {
  ...deployed("0x83746de31fc8de985ffe46c1c20ea6d7d8f4ed3a", { 1: 16_000_000 }),
});

export const okx = fork("okx", "Okx", {
  ...deployed("0x90a77dd8ae0525e08b1c2930eb2eb650e78c6725", { 1: 14_900_000 }),
});

/** An exchange that emits Seaport's events. Its orders are not ours: the events have no kinds of their own. */
function fork(protocol: string, name: string, chains: ExchangeSource["chains"]): Exchange {
  const source = { name, events: seaportEvents, eventsWithCall: ["OrderFulfilled"], chains };
  return { protocol, marketplace: protocol, sources: [source], tradesOf };
}

function deployed(
  address: Address,
  firstBlocks: Partial<Record<1 | 33139, number>>,
): ExchangeSource["chains"] {
  return Object.fromEntries(
    Object.entries(firstBlocks).map(([chainId, firstBlock]) => [
      chainId,
      { addresses: [address], firstBlock },
    ]),
  );
}
