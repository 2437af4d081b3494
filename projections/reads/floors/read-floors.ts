import { sql } from "kysely";
import type { Address } from "viem";
import type { Database } from "#projections/log/database.ts";
import type { Candle } from "#projections/domain/candles.ts";
import type { FloorSnapshot } from "#projections/facts/floor-snapshotted.ts";
import { schemaOf } from "#projections/log/versions.ts";

/** The last effective snapshot; null before the first, undefined before the projection's tables exist. */
export async function readLastSnapshot(
  db: Database,
  chainId: number,
): Promise<FloorSnapshot["base"] | undefined> {
  const { rows: checkpoints } = await sql`
    select from engine.checkpoint where projection = ${schemaOf("floors")}`.execute(db);
  if (checkpoints.length === 0) return undefined;
  const { rows } = await sql<{ takenAt: Date; contract: Address | null; wei: bigint }>`
    select last.taken_at as "takenAt", k.address as contract, f.price_wei as wei
    from (select max(taken_at) as taken_at from floors.snapshot where chain_id = ${chainId}) last
    left join floors.floor f on f.chain_id = ${chainId} and f.valid_until is null
    left join log.contract k using (contract_id)
    where last.taken_at is not null`.execute(db);
  const [first] = rows;
  if (first === undefined) return null;
  const floors = rows.flatMap(({ contract, wei }) =>
    contract === null ? [] : [[contract, wei] as const],
  );
  return { takenAtMs: first.takenAt.getTime(), floors: new Map(floors) };
}

/**
 * Candles, in wei, of the floor price over a collection's contracts, from its snapshots since `from`. A bucket whose
 * snapshots had no listing has no candle.
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
    with snapshot_floor as (
      select s.taken_at, min(f.price_wei) as wei
      from floors.floor f
      join floors.snapshot s
        on s.chain_id = f.chain_id and s.taken_at >= f.valid_from and s.taken_at < coalesce(f.valid_until, 'infinity')
      where f.contract_id = any (${contractIds}::int[]) and f.chain_id = ${chainId} and s.taken_at >= ${from}
        and (f.valid_until is null or f.valid_until > ${from})
      group by s.taken_at
    )
    select date_bin(${length}, taken_at, timestamptz 'epoch') as start,
           (array_agg(wei order by taken_at))[1] as open, max(wei) as high, min(wei) as low,
           (array_agg(wei order by taken_at desc))[1] as close
    from snapshot_floor group by 1 order by 1`.execute(db);
  return rows.map(({ start, ...prices }) => ({ ...prices, start: start.getTime() }));
}
