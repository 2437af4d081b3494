import { sql } from "kysely";
import { type Coin, coins } from "#chains/coins.ts";
import type { Database } from "#projections/log/database.ts";
import { priceHistoryDays } from "#projections/domain/price-history.ts";

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
