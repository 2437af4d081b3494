import { sql } from "kysely";
import type { Session } from "../database.ts";
import type { Projection } from "../engine/projection.ts";
import { factKind } from "../log/fact-kind.ts";
import { tables } from "./table.ts";

const kind = sql.raw(`${factKind.floor_snapshotted}`);

/** Thirty days, and one more so that the first bucket of a window of thirty is whole. */
const kept = sql.raw("interval '31 days'");

/** What contracts' cheapest listings cost at each snapshot. No block stands behind one, so none ceases to count. */
export const floorsProjection: Projection = {
  name: "floors",
  version: 1,
  folds: ["floor_snapshotted"],
  tables,
  async apply(session, schema) {
    const counted = await countedSnapshots(session, schema);
    if (counted.length === 0) return;
    await addFloors(session, schema, counted);
    await dropOld(session, schema);
  },
};

type Snapshot = { position: bigint; chainId: number; moment: number; base: number | null };

/**
 * A snapshot tells differences, so it counts only after the one that it names. One that was taken without knowing the
 * last is left out; the next names the last again.
 */
async function countedSnapshots(session: Session, schema: string): Promise<bigint[]> {
  const { rows } = await sql<Snapshot>`
    select position, (payload ->> 'chainId')::integer as "chainId", amount::float8 as moment,
           (payload ->> 'base')::float8 as base
    from change where kind = ${kind} order by position`.execute(session);
  if (rows.length === 0) return [];
  const last = await readLast(session, schema);
  return rows
    .filter(({ chainId, moment, base }) => {
      const before = last.get(chainId) ?? null;
      if (base !== before || (before !== null && moment <= before)) return false;
      last.set(chainId, moment);
      return true;
    })
    .map(({ position }) => position);
}

async function readLast(session: Session, schema: string): Promise<Map<number, number>> {
  const { rows } = await sql<{ chainId: number; moment: number }>`
    select chain_id as "chainId", extract(epoch from max(moment))::float8 as moment
    from ${sql.table(`${schema}.snapshot`)} group by chain_id`.execute(session);
  return new Map(rows.map(({ chainId, moment }) => [chainId, moment]));
}

async function addFloors(session: Session, schema: string, counted: readonly bigint[]) {
  const floor = sql.table(`${schema}.floor`);
  await sql`
    with counted as materialized (
      select (payload ->> 'chainId')::integer as chain_id, recorded_at as moment, payload -> 'floors' as floors
      from change where kind = ${kind} and position = any (${counted}::bigint[])
    ), seen as (
      insert into ${sql.table(`${schema}.snapshot`)} (chain_id, moment) select chain_id, moment from counted
    ), told as materialized (
      select k.contract_id, c.chain_id, c.moment, (one.value #>> '{}')::numeric as price_wei,
             lead(c.moment) over (partition by k.contract_id order by c.moment) as until
      from counted c
      cross join lateral jsonb_each(c.floors) one
      join log.contract k on k.chain_id = c.chain_id and k.address = decode(substr(one.key, 3), 'hex')
    ), ended as (
      update ${floor} f set until = t.moment
      from (select contract_id, min(moment) as moment from told group by contract_id) t
      where f.contract_id = t.contract_id and f.until is null
    )
    insert into ${floor} (contract_id, since, until, chain_id, price_wei)
    select contract_id, moment, until, chain_id, price_wei from told where price_wei is not null`.execute(
    session,
  );
}

/** Old by the snapshots themselves: no clock is read. */
async function dropOld(session: Session, schema: string): Promise<void> {
  const snapshot = sql.table(`${schema}.snapshot`);
  const last = sql`(select chain_id, max(moment) as moment from ${snapshot} group by chain_id) last`;
  await sql`
    delete from ${sql.table(`${schema}.floor`)} f using ${last}
    where f.chain_id = last.chain_id and f.until <= last.moment - ${kept}`.execute(session);
  await sql`
    delete from ${snapshot} s using ${last}
    where s.chain_id = last.chain_id and s.moment < last.moment - ${kept}`.execute(session);
}
