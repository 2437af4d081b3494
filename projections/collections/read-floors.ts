import { sql } from "kysely";
import type { Address, Hex } from "viem";
import { hasEnded } from "#projections/orders/read-orders.ts";
import type { Candle } from "../domain/candles.ts";
import type { Database } from "../log/database.ts";
import { byteaArray } from "../log/sql-values.ts";
import { schemaOf } from "../log/versions.ts";
import type { ContractFloors, FloorSnapshot } from "./floors.ts";

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

/** The floor at the end of a bucket, in wei; `start` in unix milliseconds. */
type FloorPoint = { readonly start: number; readonly close: bigint };

/**
 * The floor over time of several collections, by their addresses (lower case), of the same snapshots as their candles.
 * A collection without a listing in any snapshot is absent.
 */
export async function readFloorLines(
  db: Database,
  chainId: number,
  addresses: readonly Hex[],
  from: Date,
  lengthMs: number,
): Promise<Map<Hex, FloorPoint[]>> {
  const length = sql`${lengthMs} * interval '1 millisecond'`;
  const { rows } = await sql<{ address: Hex; start: Date; close: bigint }>`
    with asked as (
      select k.address, coalesce(m.collection_id, k.contract_id) as collection_id
      from log.contract k left join collections.contract m using (contract_id)
      where k.chain_id = ${chainId} and k.address = any (${byteaArray(addresses)})
    ), member as (
      select address, collection_id as contract_id from asked
      union
      select a.address, m.contract_id from asked a join collections.contract m using (collection_id)
    ), snapshot_floor as (
      select member.address, s.taken_at, min(f.price_wei) as wei
      from floors.floor f
      join member using (contract_id)
      join floors.snapshot s
        on s.chain_id = f.chain_id and s.taken_at >= f.valid_from and s.taken_at < coalesce(f.valid_until, 'infinity')
      where f.chain_id = ${chainId} and s.taken_at >= ${from} and (f.valid_until is null or f.valid_until > ${from})
      group by member.address, s.taken_at
    )
    select address, date_bin(${length}, taken_at, timestamptz 'epoch') as start,
           (array_agg(wei order by taken_at desc))[1] as close
    from snapshot_floor group by 1, 2 order by 1, 2`.execute(db);
  const lines = new Map<Hex, FloorPoint[]>();
  for (const { address, start, close } of rows) {
    const line = lines.get(address) ?? [];
    lines.set(address, line);
    line.push({ start: start.getTime(), close });
  }
  return lines;
}

/** Price of each contract's cheapest active listing at `now`; undefined before the projection's tables exist. */
export async function readContractFloors(
  db: Database,
  chainId: number,
  now: Date,
): Promise<ContractFloors | undefined> {
  const { rows: checkpoints } = await sql`
    select from engine.checkpoint where projection = ${schemaOf("collection_stats")}`.execute(db);
  if (checkpoints.length === 0) return undefined;
  const { rows } = await sql<{ contract: Address; wei: bigint }>`
    select k.address as contract, o.unit_price_wei as wei
    from collection_stats.contract c
    join log.contract k using (contract_id)
    cross join lateral (
      select o.unit_price_wei from listings.listing o
      where o.contract_id = c.contract_id and o.status = 'active' and not ${hasEnded(now)}
      order by o.unit_price_wei, o.position limit 1
    ) o
    where c.chain_id = ${chainId} and c.listed > 0`.execute(db);
  return new Map(rows.map(({ contract, wei }) => [contract, wei]));
}
