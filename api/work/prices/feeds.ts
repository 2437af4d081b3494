/** Exchanges whose published answers are understood, and where each gives them out. */
const exchangeUrls = {
  coinbase: "https://api.exchange.coinbase.com",
  kraken: "https://api.kraken.com",
  // The host for market data alone; the main one refuses some countries.
  binance: "https://data-api.binance.vision",
  okx: "https://www.okx.com",
} as const;

export type ExchangeName = keyof typeof exchangeUrls;

export const exchangeNames = Object.keys(exchangeUrls) as ExchangeName[];

/** An exchange, and the address below which its paths are asked for. */
export type PriceFeed = { name: ExchangeName; url: string };

export const publicFeeds: readonly PriceFeed[] = exchangeNames.map((name) => ({
  name,
  url: exchangeUrls[name],
}));

const isExchange = (name: string): name is ExchangeName => Object.hasOwn(exchangeUrls, name);

/** A feed of `name=url`; undefined when it is none. */
export function parseFeed(text: string): PriceFeed | undefined {
  const [, name = "", address = ""] = /^(\w+)=(.+)$/.exec(text) ?? [];
  if (!isExchange(name) || !URL.canParse(address)) return undefined;
  const { protocol, search, hash } = new URL(address);
  const isBase = /^https?:$/.test(protocol) && search === "" && hash === "";
  return isBase ? { name, url: address.replace(/\/+$/, "") } : undefined;
}
