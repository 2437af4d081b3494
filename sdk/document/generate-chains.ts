import { currencies } from "../../chains/coins.ts";
import { chains } from "../../chains/index.ts";

/** What the client must know of the chains, which the document does not tell. */
export function generateChains(): string {
  const ids = chains.map(({ id }) => id);
  const wrapped = chains.map(({ id, wrapped: { address } }) => `  ${id}: "${address}",`);
  const symbols = chains.map(
    ({ id, coin, wrapped: { symbol } }) => `  ${id}: ["${currencies[coin].symbol}", "${symbol}"],`,
  );
  return [
    "// Generated from the service's chains by `npm run sdk:generate`; not edited by hand.",
    `export type ChainId = ${ids.join(" | ")};`,
    "",
    "/** Contracts of the wrapped currencies. */",
    `export const wrappedCoins: Readonly<Record<ChainId, \`0x\${string}\`>> = {`,
    ...wrapped,
    "};",
    "",
    "export const coinSymbols: Readonly<Record<ChainId, readonly [native: string, wrapped: string]>> = {",
    ...symbols,
    "};",
    "",
  ].join("\n");
}
