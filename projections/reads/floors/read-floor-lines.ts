import { sql } from "kysely";
import type { Hex } from "viem";
import type { Database } from "#projections/log/database.ts";
import { byteaArray } from "#projections/log/sql-values.ts";

/** The floor at the end of a bucket, in wei; `start` in unix milliseconds. */
export type FloorPoint = { readonly start: number; readonly close: bigint };

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
