import { sql } from "kysely";
import type { Address } from "viem";
import type { Database } from "../../database.ts";
import type { Candle } from "../../domain/candles.ts";
import type { FloorSnapshot } from "../../facts/floor-snapshotted.ts";

/** The last snapshot that counts; null before the first, undefined while there are no tables. */
export async function readLastSnapshot(
  db: Database,
  chainId: number,
): Promise<FloorSnapshot["base"] | undefined> {
  const { rows: made } = await sql`
    select from engine.checkpoint where projection = 'floors'`.execute(db);
  if (made.length === 0) return undefined;
  const { rows } = await sql<{ moment: Date; contract: Address | null; wei: bigint }>`
    select last.moment, k.address as contract, f.price_wei as wei
    from (select max(moment) as moment from floors.snapshot where chain_id = ${chainId}) last
    left join floors.floor f on f.chain_id = ${chainId} and f.until is null
    left join log.contract k using (contract_id)
    where last.moment is not null`.execute(db);
  const [first] = rows;
  if (first === undefined) return null;
  const floors = rows.flatMap(({ contract, wei }) =>
    contract === null ? [] : [[contract, wei] as const],
  );
  return { momentMs: first.moment.getTime(), floors: new Map(floors) };
}

/**
 * Candles, in wei, of what the cheapest listing of a family's contracts cost at the snapshots from a moment on. A
 * bucket whose snapshots saw nothing listed has none.
 */
export async function readFloorCandles(
  db: Database,
  chainId: number,
  contractIds: readonly number[],
  from: Date,
  lengthMs: number,
): Promise<Candle[]> {
  const length = sql`${lengthMs} * interval '1 millisecond'`;
  const { rows } = await sql<Omit<Candle, "start"> & { start: Date }>`
    with seen as (
      select s.moment, min(f.price_wei) as wei
      from floors.floor f
      join floors.snapshot s
        on s.chain_id = f.chain_id and s.moment >= f.since and s.moment < coalesce(f.until, 'infinity')
      where f.contract_id = any (${contractIds}::int[]) and f.chain_id = ${chainId} and s.moment >= ${from}
        and (f.until is null or f.until > ${from})
      group by s.moment
    )
    select date_bin(${length}, moment, timestamptz 'epoch') as start,
           (array_agg(wei order by moment))[1] as open, max(wei) as high, min(wei) as low,
           (array_agg(wei order by moment desc))[1] as close
    from seen group by 1 order by 1`.execute(db);
  return rows.map(({ start, ...prices }) => ({ ...prices, start: start.getTime() }));
}
