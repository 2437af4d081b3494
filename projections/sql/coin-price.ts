import { type RawBuilder, sql } from "kysely";

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
