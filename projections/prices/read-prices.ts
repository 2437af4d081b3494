import { sql } from "kysely";
import { type Coin, coins } from "#chains/coins.ts";
import { chains } from "#chains/index.ts";
import type { Candle } from "../domain/candles.ts";
import { priceAt } from "../engine/usd.ts";
import type { Database, Session } from "../log/database.ts";
import { priceIdentity } from "./coin-prices.ts";

type PriceQuery = { type: Coin; at: Date };

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

/** How many hours of a coin's price history have a price. */
type PriceHistory = { coin: Coin; recorded: number; hours: number };

/** Of every coin, up to `now`; empty before the tables exist. */
export async function readPriceHistory(db: Database, now: Date): Promise<PriceHistory[]> {
  const { rows: tables } = await sql`
    select where to_regclass('coin_prices.hour') is not null`.execute(db);
  if (tables.length === 0) return [];
  const { rows } = await sql<{ coin: Coin; recorded: number }>`
    select requested.coin, (
      select count(*)::int from coin_prices.hour h
      where h.coin = requested.coin and h.hour <= ${now}
        and h.hour > ${now}::timestamptz - ${priceHistoryDays} * interval '1 day'
    ) as recorded
    from unnest(${[...coins]}::text[]) requested (coin)`.execute(db);
  return rows.map((row) => ({ ...row, hours: priceHistoryDays * 24 }));
}

/** The minutes, in unix milliseconds, for which the log holds a price. */
export async function readRecordedMinutes(
  db: Database,
  coin: Coin,
  minutesMs: readonly number[],
): Promise<Set<number>> {
  const minutes = new Map(minutesMs.map((minute) => [priceIdentity(coin, minute), minute]));
  const digits = [...minutes.keys()].map((identity) => identity.slice(2));
  const { rows } = await sql<{ identity: `0x${string}` }>`
    select f.identity from unnest(${digits}::text[]) as requested (digits)
    join log.fact f on f.identity = decode(requested.digits, 'hex')`.execute(db);
  return new Set(rows.flatMap(({ identity }) => minutes.get(identity) ?? []));
}

/** When the first sale of the chains with this coin was; null: there is none. */
export async function readFirstSaleAt(db: Database, coin: Coin): Promise<Date | null> {
  const ids = chains.filter((chain) => chain.coin === coin).map(({ id }) => id);
  const { rows } = await sql<{ at: Date | null }>`
    select min(first.timestamp) as at
    from unnest(${ids}::int[]) one (chain_id)
    cross join lateral (
      select s.timestamp from sales.sale s where s.chain_id = one.chain_id order by s.block_id limit 1
    ) first`.execute(db);
  return rows[0]?.at ?? null;
}

/** Days of hourly prices that every installation has: as many as `/v1/crypto/history` answers. */
export const priceHistoryDays = 365;
