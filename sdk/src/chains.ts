// Generated from the service's chains by `npm run sdk:generate`; not edited by hand.
export type ChainId = 1 | 33139;

/** Contracts of the wrapped currencies. */
export const wrappedCoins: Readonly<Record<ChainId, `0x${string}`>> = {
  1: "0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2",
  33139: "0x48b62137edfa95a428d35c09e44256a739f6b557",
};

export const coinSymbols: Readonly<Record<ChainId, readonly [native: string, wrapped: string]>> = {
  1: ["ETH", "WETH"],
  33139: ["APE", "WAPE"],
};
