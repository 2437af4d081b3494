/** Supported exchanges and the base URLs of their public APIs. */
const exchangeUrls = {
  coinbase: "https://api.exchange.coinbase.com",
  kraken: "https://api.kraken.com",
  // The market data host; the main one blocks some countries.
  binance: "https://data-api.binance.vision",
  okx: "https://www.okx.com",
} as const;

export type ExchangeName = keyof typeof exchangeUrls;

export const exchangeNames = Object.keys(exchangeUrls) as ExchangeName[];

/** An exchange and the base URL of its API. */
export type PriceFeed = { name: ExchangeName; url: string };

export const publicFeeds: readonly PriceFeed[] = exchangeNames.map((name) => ({
  name,
  url: exchangeUrls[name],
}));

const isExchange = (name: string): name is ExchangeName => Object.hasOwn(exchangeUrls, name);

/** Parses `name=url`; undefined if invalid. */
export function parseFeed(text: string): PriceFeed | undefined {
  const [, name = "", address = ""] = /^(\w+)=(.+)$/.exec(text) ?? [];
  if (!isExchange(name) || !URL.canParse(address)) return undefined;
  const { protocol, search, hash } = new URL(address);
  const isBase = /^https?:$/.test(protocol) && search === "" && hash === "";
  return isBase ? { name, url: address.replace(/\/+$/, "") } : undefined;
}
