import { sql } from "kysely";
import type { Coin } from "#chains/coins.ts";
import type { Database } from "#projections/log/database.ts";
import { priceIdentity } from "#projections/facts/price-ticked.ts";

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
