import { archipelago } from "./archipelago/exchange.ts";
import { blend, blur } from "./blur/exchange.ts";
import { cryptopunks } from "./cryptopunks/exchange.ts";
import { element } from "./element/exchange.ts";
import { foundation } from "./foundation/exchange.ts";
import { looksrare } from "./looksrare/exchange.ts";
import type { Exchange } from "./model/exchange.ts";
import { nftx } from "./nftx/exchange.ts";
import { paymentProcessor } from "./payment-processor/exchange.ts";
import { rarible } from "./rarible/exchange.ts";
import { seaport } from "./seaport/exchange.ts";
import { alienswap, mintify, okx } from "./seaport-forks/exchange.ts";
import { sudoswap } from "./sudoswap/exchange.ts";
import { wyvern } from "./wyvern/exchange.ts";
import { x2y2 } from "./x2y2/exchange.ts";
import { zeroex } from "./zeroex/exchange.ts";
import { zora } from "./zora/exchange.ts";

/** Every exchange. Append only: the sales of a transaction are numbered by it. */
export const exchanges: readonly Exchange[] = [
  seaport,
  blur,
  blend,
  paymentProcessor,
  x2y2,
  looksrare,
  wyvern,
  foundation,
  archipelago,
  zora,
  element,
  zeroex,
  rarible,
  cryptopunks,
  mintify,
  alienswap,
  okx,
  sudoswap,
  nftx,
];

/** The events that are stored with their transaction's transfers, by source and name. */
export function eventsWithTransfers(): { source: string; name: string; each: boolean }[] {
  return exchanges.flatMap(({ sources }) =>
    sources.flatMap(({ name: source, eventsWithTransfers: names = [], isEachWithTransfers }) =>
      names.map((name) => ({ source, name, each: isEachWithTransfers ?? false })),
    ),
  );
}
