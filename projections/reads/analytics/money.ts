import { zeroAddress } from "viem";
import { chainIds, wrappedNative } from "../../../abis/deployments.ts";
import { maxPriceAge } from "../../sql/coin-price.ts";
import { nativeCoin } from "../../sql/native-coin.ts";

const bytea = (address: string) => `'\\x${address.slice(2)}'::bytea`;

const nativeCurrencies = chainIds.flatMap((id) =>
  [zeroAddress, wrappedNative[id]].map((address) => `(${id}, ${bytea(address)})`),
);

/** Whether `currency` of a chain is its native one or the wrapped form, which are worth the same. */
export const isNative = (chain: string, currency: string) =>
  `((${chain}, ${currency}) in (${nativeCurrencies.join(", ")}))`;

/** The coin that a chain's native currency is priced as. */
export const coinOf = (chain: string) =>
  `case ${chain} ${chainIds.map((id) => `when ${id} then '${nativeCoin[id]}'`).join(" ")} end`;

/** USD of wei of a chain's native currency at the last price before a moment. */
export const usdAt = (chain: string, wei: string, at: string) => `(
  select (${wei} * p.price_e8 * 0.00000000000000000000000001)::double precision
  from coin_prices.tick p
  where p.coin = ${coinOf(chain)} and p.minute <= ${at} and p.minute >= ${at} - ${maxPriceAge}
  order by p.minute desc limit 1)`;
