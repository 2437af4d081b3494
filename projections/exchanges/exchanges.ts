import type { Exchange } from "./model/exchange.ts";
import { seaport } from "./seaport/exchange.ts";

/** Every exchange. Append only: the sales of a transaction are numbered in this order. */
export const exchanges: readonly Exchange[] = [seaport];
