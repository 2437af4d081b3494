import { type RawBuilder, sql } from "kysely";
import type { Hex } from "viem";
import {
  type Ids,
  latestRuns,
  mergeRuns,
  type Run,
  unionOf,
  within,
  without,
} from "../domain/id-runs.ts";
import type { FactWindow } from "../engine/projection.ts";
import { type Areas, areaRows, groupByContract } from "../engine/token-ids.ts";
import type { Session } from "../log/database.ts";
import { kindLiteral } from "../log/fact-kinds.ts";

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

/** SQL: kind and condition of ranges that hold an id; the standard says that the last is not below the first. */
export const isRange = sql`f.kind = ${kindLiteral("erc721_consecutive_transfer")} and f.amount > 0`;

/** SQL: a ConsecutiveTransfer `f` as a run. */
export const rangeColumns = sql`
  f.contract_id as "contractId", f.token_id as first, f.token_id + f.amount as end, f.to_address as owner,
  f.block_id as "blockId", f.log_index as "logIndex"`;

/** Facts that are in memory at once. */
const PAGE = 10_000;
const everyId: readonly Ids[] = [{ first: 0n, end: 2n ** 257n }];

/**
 * For each id of the areas (of all contracts, without any) its last effective range, from the log, contract by contract.
 * Ranges are read latest first and no further than until every id has one: a contract may have any number of them.
 */
export async function readLastRanges(
  session: Session,
  window: FactWindow,
  areas: Areas | undefined,
  onRuns: (runs: OwnedRun[]) => Promise<void>,
): Promise<void> {
  await sql`declare range_fact no scroll cursor for ${rangeFacts(window, areas)}`.execute(session);
  const missing = new Map<number, readonly Ids[]>(areas ?? []);
  for (;;) {
    const { rows } = await sql<OwnedRun>`fetch ${sql.lit(PAGE)} from range_fact`.execute(session);
    const found: OwnedRun[] = [];
    for (const [contractId, ranges] of groupByContract(rows)) {
      const wanted = missing.get(contractId) ?? everyId;
      found.push(...within(latestRuns(ranges), wanted));
      missing.set(contractId, without(wanted, unionOf(ranges)));
    }
    await onRuns(found);
    const isCovered = areas !== undefined && [...missing.values()].every((ids) => ids.length === 0);
    if (rows.length < PAGE || isCovered) break;
  }
  await sql`close range_fact`.execute(session);
}

function rangeFacts(window: FactWindow, areas: Areas | undefined): RawBuilder<unknown> {
  const isEffective = sql`
    f.position <= ${sql.raw(window.upTo.toString())}
    and f.block_id not in (select block_id from ${window.retractedBlocks})`;
  const isWanted =
    areas === undefined
      ? sql``
      : sql`
        join (
          select contract_id, min(first_id) as first_id, max(end_id) as end_id from ${areaRows(areas)} group by contract_id
        ) area on f.contract_id = area.contract_id and f.token_id < area.end_id and f.token_id + f.amount > area.first_id`;
  return sql`
    select ${rangeColumns} from ${window.facts} f ${isWanted}
    where ${isRange} and ${isEffective}
    order by f.contract_id, f.block_id desc, f.log_index desc`;
}
