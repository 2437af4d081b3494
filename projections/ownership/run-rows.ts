import { type RawBuilder, sql } from "kysely";
import type { Hex } from "viem";
import type { Session } from "../log/database.ts";
import { mergeRuns, type Run, type within } from "../domain/id-runs.ts";
import { type Areas, areaRows, groupByContract } from "../engine/token-ids.ts";

/** Token ids of a contract that a ConsecutiveTransfer gave to an owner. */
export type OwnedRun = Run & { readonly contractId: number; readonly owner: Hex };

type RunTable = "last_range" | "token_range";

type StoredRun = Omit<OwnedRun, "first" | "end"> & { first: bigint; last: bigint };

const runColumns = sql`
  r.contract_id as "contractId", r.first_id as first, r.last_id as last, r.owner, r.block_id as "blockId",
  r.log_index as "logIndex"`;

const toRun = ({ last, ...row }: StoredRun): OwnedRun => ({ ...row, end: last + 1n });

/** Each contract's runs joined where they can be. */
export function mergeByContract(runs: readonly OwnedRun[]): OwnedRun[] {
  return [...groupByContract(runs).values()].flatMap((own) => mergeRuns(own));
}

/** Parts of runs in or out of the areas of their contracts. */
export function partsByContract(
  runs: readonly OwnedRun[],
  areas: Areas,
  part: typeof within<OwnedRun>,
): OwnedRun[] {
  return [...groupByContract(runs)].flatMap(([contractId, own]) =>
    part(own, areas.get(contractId) ?? []),
  );
}

/** Stored runs, by contract and id, that overlap the areas or touch them, where they may have to be joined. */
export async function readTouching(
  session: Session,
  schema: string,
  table: RunTable,
  areas: Areas,
): Promise<OwnedRun[]> {
  const stored = sql.table(`${schema}.${table}`);
  const { rows } = await sql<StoredRun>`
    select distinct on (r.contract_id, r.first_id) ${runColumns}
    from ${areaRows(areas)}
    cross join lateral (
      (select * from ${stored} before
       where before.contract_id = area.contract_id and before.first_id < area.first_id
       order by before.first_id desc limit 1)
      union all
      (select * from ${stored} inside
       where inside.contract_id = area.contract_id and inside.first_id >= area.first_id
         and inside.first_id <= area.end_id)
    ) r
    where r.last_id >= area.first_id - 1
    order by r.contract_id, r.first_id`.execute(session);
  return rows.map(toRun);
}

/** Writes where two lists of runs differ, and returns that. */
export async function replaceRuns(
  session: Session,
  schema: string,
  table: RunTable,
  { before, after }: { before: readonly OwnedRun[]; after: readonly OwnedRun[] },
): Promise<{ removed: OwnedRun[]; added: OwnedRun[] }> {
  const [old, current] = [new Set(before.map(nameOf)), new Set(after.map(nameOf))];
  const removed = before.filter((run) => !current.has(nameOf(run)));
  const added = after.filter((run) => !old.has(nameOf(run)));
  if (removed.length > 0)
    await sql`
      delete from ${sql.table(`${schema}.${table}`)} r
      using unnest(${removed.map(({ contractId }) => contractId)}::int[], ${removed.map(({ first }) => `${first}`)}::numeric[])
        gone (contract_id, first_id)
      where r.contract_id = gone.contract_id and r.first_id = gone.first_id`.execute(session);
  await insertRuns(session, schema, table, added);
  return { removed, added };
}

export async function insertRuns(
  session: Session,
  schema: string,
  table: RunTable,
  runs: readonly OwnedRun[],
): Promise<void> {
  if (runs.length === 0) return;
  await sql`
    insert into ${sql.table(`${schema}.${table}`)} (contract_id, first_id, last_id, owner, block_id, log_index)
    select contract_id, first_id, last_id, decode(owner, 'hex'), block_id, log_index from ${runRows(runs)}`.execute(
    session,
  );
}

/** SQL: runs as rows `run` (contract_id, first_id, last_id, owner as hex digits, block_id, log_index). */
export function runRows(runs: readonly OwnedRun[]): RawBuilder<unknown> {
  return sql`unnest(
    ${runs.map(({ contractId }) => contractId)}::int[], ${runs.map(({ first }) => `${first}`)}::numeric[],
    ${runs.map(({ end }) => `${end - 1n}`)}::numeric[], ${runs.map(({ owner }) => owner.slice(2))}::text[],
    ${runs.map(({ blockId }) => `${blockId}`)}::bigint[], ${runs.map(({ logIndex }) => logIndex)}::int[]
  ) run (contract_id, first_id, last_id, owner, block_id, log_index)`;
}

const nameOf = ({ contractId, first, end, blockId, logIndex }: OwnedRun) =>
  `${contractId} ${first} ${end} ${blockId} ${logIndex}`;
