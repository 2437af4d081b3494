import { type RawBuilder, sql } from "kysely";
import type { Database, Session } from "../database.ts";
import type { Candle } from "../domain/candles.ts";
import type { Coin } from "../facts/price-ticked.ts";

/** A price older than this is not taken for the price of a moment. An interval of PostgreSQL. */
export const longestAge = "interval '2 hours'";

export type Moment = { type: Coin; at: Date };

/**
 * The price at each moment, in 10⁻⁸ USD: the last tick at or before it, at most two hours old; null where there is
 * none. In the order asked, in one statement.
 */
export async function readPricesAt(
  db: Database | Session,
  moments: readonly Moment[],
): Promise<(bigint | null)[]> {
  const types = moments.map(({ type }) => type);
  const times = moments.map(({ at }) => at.toISOString());
  const { rows } = await sql<{ price: bigint | null }>`
    select ${priceAt(sql`asked.coin`, sql`asked.at`)} as price
    from unnest(${types}::text[], ${times}::timestamptz[]) with ordinality as asked (coin, at, ord)
    order by asked.ord`.execute(db);
  return rows.map(({ price }) => price);
}

/** The same as an expression. */
export function priceAt(coin: RawBuilder<unknown>, at: RawBuilder<unknown>): RawBuilder<bigint> {
  return sql`(
    select t.price_e8 from coin_prices.tick t
    where t.coin = ${coin} and t.minute <= ${at} and t.minute >= ${at} - ${sql.raw(longestAge)}
    order by t.minute desc limit 1
  )`;
}

/** The same for one moment. */
export async function readPriceAt(
  db: Database | Session,
  type: Coin,
  at: Date,
): Promise<bigint | null> {
  return (await readPricesAt(db, [{ type, at }]))[0] ?? null;
}

/** Candles of the hours from a moment on, oldest first; an hour without a tick has none. */
export async function readHours(db: Database, type: Coin, from: Date): Promise<Candle[]> {
  const { rows } = await sql<Omit<Candle, "start"> & { hour: Date }>`
    select hour, open_e8 as open, high_e8 as high, low_e8 as low, close_e8 as close
    from coin_prices.hour where coin = ${type} and hour >= ${from} order by hour`.execute(db);
  return rows.map(({ hour, ...prices }) => ({ start: hour.getTime(), ...prices }));
}
