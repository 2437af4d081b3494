import { coinSymbols, currencies } from "./coins.ts";
import { chains } from "./index.ts";

function listOf(texts: readonly string[], word: "and" | "or"): string {
  const [last = "", ...others] = texts.toReversed();
  return others.length === 0 ? last : `${others.toReversed().join(", ")} ${word} ${last}`;
}

/** `Ethereum and ApeChain`. */
export const chainsInWords = listOf(
  chains.map(({ name }) => name),
  "and",
);

/** `Ethereum (chain 1) and ApeChain (chain 33139)`. */
export const numberedChains = listOf(
  chains.map(({ name, id }) => `${name} (chain ${id})`),
  "and",
);

/** `1: Ethereum; 33139: ApeChain`. */
export const chainIdLegend = chains.map(({ id, name }) => `${id}: ${name}`).join("; ");

/** `ETH or APE`. */
export const coinsInWords = listOf(coinSymbols, "or");

const symbols = chains.flatMap(({ coin, wrapped }) => [currencies[coin].symbol, wrapped.symbol]);

/** `` `ETH`, `WETH`, `APE` or `WAPE` ``. */
export const currenciesInWords = listOf(
  [...new Set(symbols)].map((symbol) => `\`${symbol}\``),
  "or",
);
