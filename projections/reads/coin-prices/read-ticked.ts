import { sql } from "kysely";
import type { Database } from "../../database.ts";
import { type Coin, priceIdentity } from "../../facts/price-ticked.ts";

/** Those of the minutes, unix milliseconds, that the log itself holds a price of. */
export async function readTickedMinutes(
  db: Database,
  coin: Coin,
  minutesMs: readonly number[],
): Promise<Set<number>> {
  const minutes = new Map(minutesMs.map((minute) => [priceIdentity(coin, minute), minute]));
  const digits = [...minutes.keys()].map((identity) => identity.slice(2));
  const { rows } = await sql<{ identity: `0x${string}` }>`
    select f.identity from unnest(${digits}::text[]) as asked (digits)
    join log.fact f on f.identity = decode(asked.digits, 'hex')`.execute(db);
  return new Set(rows.flatMap(({ identity }) => minutes.get(identity) ?? []));
}
