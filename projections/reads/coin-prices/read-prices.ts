import { sql } from "kysely";
import type { Coin } from "#chains/coins.ts";
import type { Database, Session } from "#projections/log/database.ts";
import type { Candle } from "#projections/domain/candles.ts";
import { priceAt } from "#projections/engine/usd.ts";

export type PriceQuery = { type: Coin; at: Date };

/** Prices in 10⁻⁸ USD, in the order of `queries`, by one statement; null: no price at most `maxPriceAge` old. */
export async function readPricesAt(
  db: Database | Session,
  queries: readonly PriceQuery[],
): Promise<(bigint | null)[]> {
  const types = queries.map(({ type }) => type);
  const times = queries.map(({ at }) => at.toISOString());
  const { rows } = await sql<{ price: bigint | null }>`
    select ${priceAt(sql`query.coin`, sql`query.at`)} as price
    from unnest(${types}::text[], ${times}::timestamptz[]) with ordinality as query (coin, at, ord)
    order by query.ord`.execute(db);
  return rows.map(({ price }) => price);
}

/** The price of one coin at one time. */
export async function readPriceAt(
  db: Database | Session,
  type: Coin,
  at: Date,
): Promise<bigint | null> {
  return (await readPricesAt(db, [{ type, at }]))[0] ?? null;
}

/** Hourly candles from a time on, oldest first; an hour without a tick has none. */
export async function readHourlyCandles(db: Database, type: Coin, from: Date): Promise<Candle[]> {
  const { rows } = await sql<Omit<Candle, "start"> & { hour: Date }>`
    select hour, open_e8 as open, high_e8 as high, low_e8 as low, close_e8 as close
    from coin_prices.hour where coin = ${type} and hour >= ${from} order by hour`.execute(db);
  return rows.map(({ hour, ...prices }) => ({ start: hour.getTime(), ...prices }));
}
