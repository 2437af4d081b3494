import { type RawBuilder, sql } from "kysely";
import { zeroAddress } from "viem";
import type { Coin } from "#chains/coins.ts";
import { chains } from "#chains/index.ts";
import { byteaLiteral } from "../log/sql-values.ts";

/** As rows of a table: `chain_id`, `coin`. */
export const nativeCoins = sql`(values ${sql.join(
  chains.map(({ id, coin }) => sql`(${sql.lit(id)}, ${sql.lit(coin)})`),
)}) native (chain_id, coin)`;

/** SQL: the coin of a chain. */
function nativeCoinOf(chain: RawBuilder<unknown>): RawBuilder<Coin> {
  const coins = chains.map(({ id, coin }) => sql`when ${sql.lit(id)} then ${sql.lit(coin)}`);
  return sql`case ${chain} ${sql.join(coins, sql` `)} end`;
}

/** Whether the sale `s` was paid in the chain's native currency or its wrapped form. */
export const isPaidNatively = sql`(s.chain_id, s.currency) in (${sql.join(
  chains.flatMap(({ id, wrapped }) =>
    [zeroAddress, wrapped.address].map(
      (address) => sql`(${sql.lit(id)}, ${byteaLiteral(address)})`,
    ),
  ),
)})`;

/** A price older than this is not used. An interval of PostgreSQL. */
export const maxPriceAge = "interval '2 hours'";

/** SQL: a coin's price at a time in 10⁻⁸ USD: its last tick at or before it, at most `maxPriceAge` old; else null. */
export function priceAt(coin: RawBuilder<unknown>, at: RawBuilder<unknown>): RawBuilder<bigint> {
  return sql`(
    select t.price_e8 from coin_prices.tick t
    where t.coin = ${coin} and t.minute <= ${at} and t.minute >= ${at} - ${sql.raw(maxPriceAge)}
    order by t.minute desc limit 1
  )`;
}

/** Wei of a chain's native currency, or of its wrapped form, at the coin's last price before a moment, in 10⁻⁸ USD. */
export function usdE8Of(
  wei: RawBuilder<unknown>,
  chainId: RawBuilder<unknown>,
  at: RawBuilder<unknown>,
): RawBuilder<bigint | null> {
  return sql`div(${wei} * ${priceAt(nativeCoinOf(chainId), at)}, 1000000000000000000)`;
}

/** The same at one moment for all rows: the price of each chain's coin is looked up once. */
export function usdE8AtOnce(
  wei: RawBuilder<unknown>,
  chainId: RawBuilder<unknown>,
  at: RawBuilder<unknown>,
): RawBuilder<bigint | null> {
  const prices = chains.map(({ id, coin }) => {
    const price = priceAt(sql.lit(coin), at);
    return sql`when ${sql.lit(id)} then ${price}`;
  });
  return sql`div(${wei} * case ${chainId} ${sql.join(prices, sql` `)} end, 1000000000000000000)`;
}

/** What one unit of the sale `s` cost; null: the coin had no price, or another currency was paid. */
export const saleUsdE8 = sql<bigint | null>`
  case when ${isPaidNatively} then ${usdE8Of(sql`s.price_wei`, sql`s.chain_id`, sql`s.timestamp`)} end`;
