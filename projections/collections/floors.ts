import { sql } from "kysely";
import { type Address, keccak256, stringToHex } from "viem";
import type { ChainId } from "#chains/index.ts";
import { isObservation } from "../engine/fact-window.ts";
import type { FactWindow, Projection } from "../engine/projection.ts";
import type { Observation } from "../log/append.ts";
import type { Session } from "../log/database.ts";
import { versions } from "../log/versions.ts";

/** Snapshots are taken at full five minutes, UTC; a chain's first one with a floor at any second. */
export const snapshotMs = 300_000;

/** Price of each contract's cheapest listing, in wei; contracts without listings are left out. */
export type ContractFloors = ReadonlyMap<Address, bigint>;

export type FloorSnapshot = {
  chainId: ChainId;
  /** Unix milliseconds of a full second. */
  takenAtMs: number;
  floors: ContractFloors;
  /** The previous snapshot, to which this one holds the differences; null before the first. */
  base: { takenAtMs: number; floors: ContractFloors } | null;
};

/** One fact per chain and time, from whichever process, with the differences to the previous snapshot. */
export function floorSnapshotted({ chainId, takenAtMs, floors, base }: FloorSnapshot): Observation {
  return {
    kind: "floor_snapshotted",
    chainId,
    identity: keccak256(stringToHex(`floor_snapshotted/${chainId}/${takenAtMs / 1000}`)),
    recordedAt: new Date(takenAtMs),
    amount: BigInt(takenAtMs / 1000),
    payload: {
      chainId,
      base: base && base.takenAtMs / 1000,
      floors: differences(base?.floors ?? new Map(), floors),
    },
  };
}

function differences(
  before: ContractFloors,
  after: ContractFloors,
): Record<Address, string | null> {
  const changed = [...after].filter(([contract, wei]) => before.get(contract) !== wei);
  const gone = [...before.keys()].filter((contract) => !after.has(contract));
  return Object.fromEntries([
    ...changed.map(([contract, wei]) => [contract, wei.toString()]),
    ...gone.map((contract) => [contract, null]),
  ]);
}

/** The tables are described in `README.md`. */
function tables(schema: string): readonly string[] {
  return [
    `create table "${schema}"."snapshot" (
       chain_id integer     not null,
       taken_at timestamptz not null,
       primary key (chain_id, taken_at)
     )`,
    `create table "${schema}"."floor" (
       contract_id integer     not null,
       valid_from  timestamptz not null,
       valid_until timestamptz,
       chain_id    integer     not null,
       price_wei   numeric     not null,
       primary key (contract_id, valid_from)
     )`,
    `comment on column "${schema}"."floor".valid_until is 'The first snapshot with another floor or none; null: the current floor'`,
    `create index on "${schema}"."floor" (chain_id, valid_from)`,
    `create index on "${schema}"."floor" (chain_id, valid_until)`,
  ];
}

const isSnapshot = isObservation("floor_snapshotted");

/** Thirty days, and one more so that the first bucket of a thirty-day period is complete. */
const retention = sql.raw("interval '31 days'");

/** Floor prices of contracts at each snapshot. Snapshots belong to no block, so they are always effective. */
export const floorsProjection: Projection = {
  name: "floors",
  version: versions.floors.version,
  handles: ["floor_snapshotted"],
  tables,
  apply: applySnapshots,
  deriveAll: [{ name: "floors", derive: applySnapshots }],
};

async function applySnapshots(session: Session, schema: string, window: FactWindow): Promise<void> {
  const effective = await effectiveSnapshots(session, schema, window);
  if (effective.length === 0) return;
  await addFloors(session, schema, window, effective);
  await deleteOld(session, schema);
}

type Snapshot = { position: bigint; chainId: number; takenAt: number; base: number | null };

/**
 * Positions of effective snapshots. A snapshot holds the differences to its `base`, so it is effective only directly
 * after it. One taken without knowing the last is ignored; the next one names the last again.
 */
async function effectiveSnapshots(
  session: Session,
  schema: string,
  window: FactWindow,
): Promise<bigint[]> {
  const { rows } = await sql<Snapshot>`
    select position, (payload ->> 'chainId')::integer as "chainId", amount::float8 as "takenAt",
           (payload ->> 'base')::float8 as base
    from ${window.changes} where ${isSnapshot} order by position`.execute(session);
  if (rows.length === 0) return [];
  const last = await readLast(session, schema);
  return rows
    .filter(({ chainId, takenAt, base }) => {
      const previous = last.get(chainId) ?? null;
      if (base !== previous || (previous !== null && takenAt <= previous)) return false;
      last.set(chainId, takenAt);
      return true;
    })
    .map(({ position }) => position);
}

async function readLast(session: Session, schema: string): Promise<Map<number, number>> {
  const { rows } = await sql<{ chainId: number; takenAt: number }>`
    select chain_id as "chainId", extract(epoch from max(taken_at))::float8 as "takenAt"
    from ${sql.table(`${schema}.snapshot`)} group by chain_id`.execute(session);
  return new Map(rows.map(({ chainId, takenAt }) => [chainId, takenAt]));
}

async function addFloors(
  session: Session,
  schema: string,
  window: FactWindow,
  positions: readonly bigint[],
) {
  const floor = sql.table(`${schema}.floor`);
  await sql`
    with effective as materialized (
      select (payload ->> 'chainId')::integer as chain_id, recorded_at as taken_at, payload -> 'floors' as floors
      from ${window.changes} where ${isSnapshot} and position = any (${positions}::bigint[])
    ), stored_snapshot as (
      insert into ${sql.table(`${schema}.snapshot`)} (chain_id, taken_at) select chain_id, taken_at from effective
    ), floor_change as materialized (
      select k.contract_id, c.chain_id, c.taken_at, (one.value #>> '{}')::numeric as price_wei,
             lead(c.taken_at) over (partition by k.contract_id order by c.taken_at) as valid_until
      from effective c
      cross join lateral jsonb_each(c.floors) one
      join log.contract k on k.chain_id = c.chain_id and k.address = decode(substr(one.key, 3), 'hex')
    ), closed as (
      update ${floor} f set valid_until = t.taken_at
      from (select contract_id, min(taken_at) as taken_at from floor_change group by contract_id) t
      where f.contract_id = t.contract_id and f.valid_until is null
    )
    insert into ${floor} (contract_id, valid_from, valid_until, chain_id, price_wei)
    select contract_id, taken_at, valid_until, chain_id, price_wei from floor_change where price_wei is not null`.execute(
    session,
  );
}

/** Deletes what is older than the retention, measured from the last snapshot: no clock is read. */
async function deleteOld(session: Session, schema: string): Promise<void> {
  const snapshot = sql.table(`${schema}.snapshot`);
  const last = sql`(select chain_id, max(taken_at) as taken_at from ${snapshot} group by chain_id) last`;
  await sql`
    delete from ${sql.table(`${schema}.floor`)} f using ${last}
    where f.chain_id = last.chain_id and f.valid_until <= last.taken_at - ${retention}`.execute(
    session,
  );
  await sql`
    delete from ${snapshot} s using ${last}
    where s.chain_id = last.chain_id and s.taken_at < last.taken_at - ${retention}`.execute(
    session,
  );
}
