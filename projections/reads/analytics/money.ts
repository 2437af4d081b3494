import { zeroAddress } from "viem";
import { chains } from "#chains/index.ts";
import { maxPriceAge } from "#projections/engine/usd.ts";

const bytea = (address: string) => `'\\x${address.slice(2)}'::bytea`;

const nativeCurrencies = chains.flatMap(({ id, wrapped }) =>
  [zeroAddress, wrapped.address].map((address) => `(${id}, ${bytea(address)})`),
);

/** SQL: whether a chain's `currency` is its native one or the wrapped form, which have the same value. */
export const isNative = (chain: string, currency: string) =>
  `((${chain}, ${currency}) in (${nativeCurrencies.join(", ")}))`;

/** SQL: the coin of a chain's native currency. */
export const coinOf = (chain: string) =>
  `case ${chain} ${chains.map(({ id, coin }) => `when ${id} then '${coin}'`).join(" ")} end`;

/** SQL: USD value of wei of a chain's native currency, at the last price before a time. */
export const usdAt = (chain: string, wei: string, at: string) => `(
  select (${wei} * p.price_e8 * 0.00000000000000000000000001)::double precision
  from coin_prices.tick p
  where p.coin = ${coinOf(chain)} and p.minute <= ${at} and p.minute >= ${at} - ${maxPriceAge}
  order by p.minute desc limit 1)`;

/** SQL: the chains as rows of one column, `chain (id)`. */
export const chainRows = `(values ${chains.map(({ id }) => `(${id})`).join(", ")}) chain (id)`;
