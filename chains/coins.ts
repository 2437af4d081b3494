/** Coins that chains are paid in, by their names on the wire. Chains with the same coin share its price. */
export const coins = ["ethereum", "apecoin"] as const;
export type Coin = (typeof coins)[number];

/** All have 18 decimals. `symbol`: also what exchanges trade them under. */
export const currencies = {
  ethereum: { name: "Ether", symbol: "ETH" },
  apecoin: { name: "ApeCoin", symbol: "APE" },
} as const satisfies Record<Coin, { name: string; symbol: string }>;

export type CoinSymbol = (typeof currencies)[Coin]["symbol"];

export const coinSymbols: readonly CoinSymbol[] = coins.map((coin) => currencies[coin].symbol);
