import { type RawBuilder, sql } from "kysely";
import { burnAddresses } from "../domain/burn-address.ts";
import { latestRuns, within, without } from "../domain/id-runs.ts";
import { holdsAny, readKinds } from "../engine/fact-window.ts";
import type { FactWindow } from "../engine/projection.ts";
import { type Areas, areaRows, areasOf, groupByContract } from "../engine/token-ids.ts";
import type { Session } from "../log/database.ts";
import { kindLiteral } from "../log/fact-kinds.ts";
import { isBurnAddress } from "../log/sql-values.ts";
import { collectionDelta, holderDelta, movedInRange } from "./counters.ts";
import {
  isRange,
  mergeByContract,
  type OwnedRun,
  partsByContract,
  rangeColumns,
  readLastRanges,
  readTouching,
  replaceRuns,
  runRows,
} from "./range-rows.ts";

/** Ids whose last range a window changed. */
type ChangedRanges = {
  all: Areas;
  /** Those of ranges that are no longer effective. */
  exposed: Areas;
  /** The last ranges of these ids now. */
  last: readonly OwnedRun[];
};

const none: ChangedRanges = { all: new Map(), exposed: new Map(), last: [] };

/**
 * Brings `last_range` to the window's end. A new range is laid over the stored ones, the later one winning; a fact adds
 * two rows at most, whatever its length. Below a range that is no longer effective the log says what was before.
 */
export async function applyRanges(
  session: Session,
  schema: string,
  window: FactWindow,
): Promise<ChangedRanges> {
  if (!holdsAny(await readKinds(session, window), ["erc721_consecutive_transfer"])) return none;
  const { rows } = await sql<OwnedRun & { weight: number }>`
    select f.weight, ${rangeColumns} from ${window.changes} f where ${isRange}`.execute(session);
  if (rows.length === 0) return none;
  const all = areasOf(rows);
  const exposed = areasOf(rows.filter(({ weight }) => weight < 0));
  const before = await readTouching(session, schema, "last_range", all);
  const after = await laidOver(session, window, before, { all, exposed, rows });
  await replaceRuns(session, schema, "last_range", { before, after });
  return { all, exposed, last: partsByContract(after, all, within) };
}

async function laidOver(
  session: Session,
  window: FactWindow,
  before: readonly OwnedRun[],
  { all, exposed, rows }: { all: Areas; exposed: Areas; rows: readonly OwnedRun[] },
): Promise<OwnedRun[]> {
  const isExposed = ({ contractId }: OwnedRun) => exposed.has(contractId);
  const added = [...before, ...rows].filter((run) => !isExposed(run));
  const after = [...groupByContract(added).values()].flatMap((own) => latestRuns(own));
  if (exposed.size === 0) return after;
  const areas = new Map([...all].filter(([contractId]) => exposed.has(contractId)));
  const read: OwnedRun[] = [];
  await readLastRanges(session, window, areas, async (runs) => {
    read.push(...runs);
  });
  const kept = partsByContract(before.filter(isExposed), areas, without);
  return [...after, ...mergeByContract([...kept, ...read])];
}

/** Rows of tokens that a later range has taken are deleted; where a range has gone, those before it are back. */
export async function applyRangesToTokens(
  session: Session,
  schema: string,
  window: FactWindow,
  { exposed, last }: ChangedRanges,
): Promise<void> {
  const token = sql.table(`${schema}.token`);
  if (exposed.size > 0) {
    const deleted = sql`
      delete from ${token} t using ${areaRows(exposed)}
      where t.contract_id = area.contract_id and t.token_id >= area.first_id and t.token_id < area.end_id
        and t.standard = 721`;
    await noteTokens(session, sql`-1`, deleted);
    await noteTokens(session, sql`1`, restoredTokens(schema, window, areaRows(exposed)));
  }
  if (last.length > 0) {
    const hidden = sql`
      delete from ${token} t using ${runRows(last)}
      where t.contract_id = run.contract_id and t.token_id >= run.first_id and t.token_id <= run.last_id
        and t.standard = 721 and (t.block_id, t.log_index) < (run.block_id, run.log_index)`;
    await noteTokens(session, sql`-1`, hidden);
  }
}

/** SQL: inserts the last single transfers of ids of the rows `area` that ERC-1155 transfers have not moved. */
export function restoredTokens(
  schema: string,
  window: FactWindow,
  areas: RawBuilder<unknown>,
): RawBuilder<unknown> {
  const token = sql.table(`${schema}.token`);
  return sql`
    insert into ${token} as t (contract_id, token_id, standard, owner, supply, is_burned, block_id, log_index)
    select f.contract_id, f.token_id, 721, f.to_address, case when ${isBurnAddress(sql`f.to_address`)} then 0 else 1 end,
           ${isBurnAddress(sql`f.to_address`)}, f.block_id, f.log_index
    from ${areas}
    cross join lateral (
      select distinct on (f.token_id) f.* from ${window.facts} f
      where f.kind = ${kindLiteral("erc721_transfer")} and f.contract_id = area.contract_id
        and f.token_id >= area.first_id and f.token_id < area.end_id and f.position <= ${window.upTo}
        and f.block_id not in (select block_id from ${window.retractedBlocks})
      order by f.token_id, f.block_id desc, f.log_index desc
    ) f
    left join lateral (
      select r.last_id, r.block_id, r.log_index from ${sql.table(`${schema}.last_range`)} r
      where r.contract_id = f.contract_id and r.first_id <= f.token_id
      order by r.first_id desc limit 1
    ) r on r.last_id >= f.token_id
    where (r.block_id is null or (f.block_id, f.log_index) > (r.block_id, r.log_index)) and not exists (
      select from ${token} many
      where many.contract_id = f.contract_id and many.token_id = f.token_id and many.standard = 1155
    )
    on conflict do nothing`;
}

/** Executes a statement that writes token rows `t` and counts them. */
export async function noteTokens(
  session: Session,
  sign: RawBuilder<unknown>,
  write: RawBuilder<unknown>,
): Promise<void> {
  await sql`
    with written as (${write} returning t.contract_id, t.owner, t.is_burned, t.supply), noted as (
      insert into ${holderDelta} (contract_id, owner, ids)
      select contract_id, owner, ${sign} * count(*) from written where not is_burned group by contract_id, owner
    )
    insert into ${collectionDelta} (contract_id, erc721_tokens, tokens, supply, units)
    select contract_id, ${sign} * count(*), ${sign} * count(*), ${sign} * sum(supply), ${sign} * sum(supply)
    from written group by contract_id`.execute(session);
}

/** Brings `token_range` up to `last_range` and `token`: of the changed ranges, and of the tokens that moved in one. */
export async function applyTokenRanges(
  session: Session,
  schema: string,
  { all }: ChangedRanges,
): Promise<void> {
  const { rows: moved } = await sql<{ contractId: number; first: bigint; end: bigint }>`
    select contract_id as "contractId", token_id as first, token_id + 1 as end from ${movedInRange}`.execute(
    session,
  );
  if (all.size === 0 && moved.length === 0) return;
  const ranges = [...all].flatMap(([contractId, ids]) =>
    ids.map((one) => ({ contractId, ...one })),
  );
  const areas = areasOf([...ranges, ...moved]);
  const before = await readTouching(session, schema, "token_range", areas);
  const last = await readTouching(session, schema, "last_range", areas);
  const tokens = await readTokensIn(session, schema, areas);
  const kept = partsByContract(before, areas, without);
  const left = partsByContract(partsByContract(last, areas, within), tokens, without);
  const after = mergeByContract([...kept, ...left]);
  const { removed, added } = await replaceRuns(session, schema, "token_range", { before, after });
  await noteRuns(session, removed, -1n);
  await noteRuns(session, added, 1n);
}

/** Tokens with a row of their own, of either standard, as areas. */
async function readTokensIn(session: Session, schema: string, areas: Areas): Promise<Areas> {
  const { rows } = await sql<{ contractId: number; first: bigint; end: bigint }>`
    select t.contract_id as "contractId", t.token_id as first, t.token_id + 1 as end
    from ${areaRows(areas)}
    join ${sql.table(`${schema}.token`)} t
      on t.contract_id = area.contract_id and t.token_id >= area.first_id and t.token_id < area.end_id`.execute(
    session,
  );
  return areasOf(rows);
}

async function noteRuns(session: Session, runs: readonly OwnedRun[], sign: bigint): Promise<void> {
  if (runs.length === 0) return;
  const isBurned = ({ owner }: OwnedRun) => burnAddresses.has(owner);
  const counts = runs.map(({ first, end }) => `${sign * (end - first)}`);
  await sql`
    with run as materialized (
      select contract_id, decode(owner, 'hex') as owner, ids, is_burned
      from unnest(
        ${runs.map(({ contractId }) => contractId)}::int[], ${runs.map(({ owner }) => owner.slice(2))}::text[],
        ${counts}::numeric[], ${runs.map(isBurned)}::boolean[]
      ) run (contract_id, owner, ids, is_burned)
    ), noted as (
      insert into ${holderDelta} (contract_id, owner, ids)
      select contract_id, owner, sum(ids) from run where not is_burned group by contract_id, owner
    )
    insert into ${collectionDelta} (contract_id, erc721_tokens, tokens, supply, units)
    select contract_id, sum(ids), sum(ids), coalesce(sum(ids) filter (where not is_burned), 0),
           coalesce(sum(ids) filter (where not is_burned), 0)
    from run group by contract_id`.execute(session);
}
