import { type RawBuilder, sql } from "kysely";
import { latestRuns, unionOf, without } from "../domain/id-runs.ts";
import { assertFoldable, mostFolded } from "../engine/fold-budget.ts";
import { type Point, retractedCte } from "../engine/point.ts";
import type { Database } from "../log/database.ts";
import { kindList } from "../log/fact-kinds.ts";
import { bytea, isBurnAddress } from "../log/sql-values.ts";
import {
  foldedFacts,
  hasUnits,
  isLaterThan,
  type PastState,
  pastRanges,
  pastStateCtes,
  pastStates,
  runFinder,
} from "./past-states.ts";
import { type OwnedRun, rangeColumns } from "./range-rows.ts";
import type { HolderCursor, HolderRow } from "./read-holders.ts";

/** Ids and units that an address held, before they are summed. */
export type Held = { contractId: number; owner: string; ids: bigint; units: bigint };

type Slice = { limit: number; after: HolderCursor | null };

/**
 * Holders of a collection at a point, as `readHolders` has them today, how many they were, the units of all, and the contracts of
 * which somebody held any.
 */
export type PastHolders = {
  rows: HolderRow[];
  total: bigint;
  supply: bigint;
  heldContractIds: number[];
};

/**
 * What has not moved since is as it is today: the ids that have are taken from today's counts and folded up to the point.
 * Contracts with ranges are folded whole. Throws `TooMuchToFold`.
 */
export async function readPastHolders(
  db: Database,
  contractIds: readonly number[],
  point: Point,
  slice: Slice,
): Promise<PastHolders> {
  const { rows } = await sql<{ contractId: number }>`
    select distinct contract_id as "contractId" from ownership.last_range
    where contract_id = any (${contractIds}::int[])`.execute(db);
  const ranged = rows.map(({ contractId }) => contractId);
  const others = contractIds.filter((contractId) => !ranged.includes(contractId));
  const held = ranged.length === 0 ? [] : await foldPastHolders(db, ranged, point);
  return await readPage(db, others, held, point, slice);
}

async function readPage(
  db: Database,
  contractIds: readonly number[],
  given: readonly Held[],
  point: Point,
  { limit, after }: Slice,
): Promise<PastHolders> {
  const isAfterCursor =
    after === null
      ? sql`true`
      : sql`(tokens, owner) < (${after.tokens}::numeric, ${bytea(after.owner)})`;
  type Supplies = { contractId: number; units: string }[];
  type Counted = { total: bigint; supplies: Supplies; wanted: number; folded: number };
  const { rows } = await sql<HolderRow & Counted>`
    with ${retractedCte(point)}, wanted as materialized (${movedSince(contractIds, point)}),
    ${pastStateCtes(point)}, ${heldCte(contractIds, given)},
    page as materialized (
      select owner, tokens, more from held where ${isAfterCursor} order by tokens desc, owner desc limit ${limit}
    )
    select page.owner, page.tokens, page.tokens + page.more + coalesce(many.units, 0) as units, counted.*
    from (
      select (select count(*) from held) as total, (${suppliesOf(contractIds)}) as supplies,
             (select count(*)::int from wanted) as wanted, ${foldedFacts} as folded
    ) counted
    left join page on true
    left join lateral (
      select sum(b.units) - count(*) as units from ownership.balance b
      where b.owner = page.owner and b.contract_id = any (${contractIds}::int[]) and b.units > 0
    ) many on true
    order by page.tokens desc, page.owner desc`.execute(db);
  const [first] = rows;
  assertFoldable(first?.wanted ?? 0, first?.folded ?? 0);
  const held = rows.filter(({ owner }) => owner !== null);
  const supplies = (first?.supplies ?? []).map(({ contractId, units }) => ({
    contractId,
    units: BigInt(units),
  }));
  return {
    rows: held.map(({ owner, tokens, units }) => ({ owner, tokens, units })),
    total: first?.total ?? 0n,
    supply: supplies.reduce((sum, { units }) => sum + units, 0n),
    heldContractIds: supplies.flatMap(({ contractId, units }) => (units > 0n ? [contractId] : [])),
  };
}

/** SQL: the units of each contract today, and what of them is another at the point. */
const suppliesOf = (contractIds: readonly number[]) => sql`
  select jsonb_agg(jsonb_build_object('contractId', contract_id, 'units', units::text))
  from (
    select contract_id, sum(units) as units from (
      select contract_id, units from ownership.collection where contract_id = any (${contractIds}::int[])
      union all select contract_id, units from shift
    ) one group by contract_id
  ) supply`;

/** SQL: ids of contracts without ranges whose last transfer is behind the point. */
const movedSince = (contractIds: readonly number[], { endId }: Point) => sql`
  select t.contract_id, t.token_id, t.standard = 1155 as has_units from ownership.token t
  where t.contract_id = any (${contractIds}::int[]) and t.block_id >= ${endId}::bigint
  limit ${mostFolded + 1}`;

/** SQL: CTEs of what each held; `shift`: compared with today; `more`: units beyond one for each id, compared with today's. */
function heldCte(contractIds: readonly number[], given: readonly Held[]): RawBuilder<unknown> {
  const kept = (owner: RawBuilder<unknown>) => sql`not ${isBurnAddress(owner)}`;
  const today = (alias: string) =>
    sql`${sql.ref(`${alias}.contract_id`)} = w.contract_id and ${sql.ref(`${alias}.token_id`)} = w.token_id`;
  return sql`
    shift (contract_id, owner, ids, units) as materialized (
      select w.contract_id, t.owner, -1, -1 from wanted w join ownership.token t on ${today("t")}
      where t.standard = 721 and not t.is_burned
      union all
      select w.contract_id, b.owner, -1, -b.units from wanted w join ownership.balance b on ${today("b")}
      where b.units > 0 and ${kept(sql`b.owner`)}
      union all
      select contract_id, owner, 1, 1 from past_single where ${kept(sql`owner`)}
      union all
      select contract_id, owner, 1, units from past_unit where ${kept(sql`owner`)}
      union all
      select contract_id, decode(owner, 'hex'), ids, units
      from unnest(${given.map(({ contractId }) => contractId)}::int[],
                  ${given.map(({ owner }) => owner.slice(2))}::text[], ${given.map(({ ids }) => `${ids}`)}::numeric[],
                  ${given.map(({ units }) => `${units}`)}::numeric[]) given (contract_id, owner, ids, units)
      where ${kept(sql`decode(owner, 'hex')`)}
    ), held as materialized (
      select owner, sum(ids) as tokens, sum(units - ids) as more
      from (
        select owner, tokens as ids, tokens as units from ownership.holder
        where contract_id = any (${contractIds}::int[])
        union all
        select owner, ids, units from shift
      ) one
      group by owner having sum(ids) > 0
    )`;
}

/**
 * What each held of contracts, by the log alone: every id that ever moved alone is folded, and the ranges between them.
 * Throws `TooMuchToFold`.
 */
export async function foldPastHolders(
  db: Database,
  contractIds: readonly number[],
  point: Point,
): Promise<Held[]> {
  const { rows: ranges } = await sql<OwnedRun>`
    select ${rangeColumns} from (${pastRanges(point, sql`f.contract_id = any (${contractIds}::int[])`)}) f`.execute(
    db,
  );
  const { rows: states } = await sql<PastState & { folded: number; wanted: number }>`
    with recursive ${retractedCte(point)}, ${movedAlone(contractIds)}, ${pastStateCtes(point)}
    select states.*, ${foldedFacts} as folded, (select count(*)::int from wanted) as wanted
    from (${pastStates}) states`.execute(db);
  assertFoldable(ranges.length, states[0]?.folded ?? 0, states[0]?.wanted ?? 0);
  return contractIds.flatMap((contractId) => {
    const isOwn = (one: { contractId: number }) => one.contractId === contractId;
    return heldOf(contractId, latestRuns(ranges.filter(isOwn)), states.filter(isOwn));
  });
}

/** SQL: a CTE of all ids that moved alone, one after the other by index. */
const movedAlone = (contractIds: readonly number[]) => {
  const next = (contract: RawBuilder<unknown>, after: RawBuilder<unknown>) => sql`
    select f.token_id from log.fact f
    where f.kind in ${kindList("erc721_transfer", "erc1155_transfer")} and f.contract_id = ${contract} and f.token_id > ${after}
    order by f.token_id limit 1`;
  return sql`
    one_id as (
      select k.contract_id, (${next(sql`k.contract_id`, sql`-1`)}) as token_id
      from unnest(${contractIds}::int[]) k (contract_id)
      union all
      select o.contract_id, (${next(sql`o.contract_id`, sql`o.token_id`)}) from one_id o where o.token_id is not null
    ), wanted as materialized (
      select w.contract_id, w.token_id, ${hasUnits} as has_units from one_id w
      where w.token_id is not null limit ${mostFolded + 1}
    )`;
};

/** Runs of a contract without the ids that moved alone later, and these. */
function heldOf(
  contractId: number,
  runs: readonly OwnedRun[],
  states: readonly PastState[],
): Held[] {
  const runOf = runFinder(runs);
  const alone = states.filter(
    (state) => state.standard === 1155 || isLaterThan(state, runOf(state.tokenId)),
  );
  const taken = unionOf(alone.map(({ tokenId }) => ({ first: tokenId, end: tokenId + 1n })));
  return [
    ...alone.flatMap(({ owner, units }) =>
      owner === null ? [] : [{ contractId, owner, ids: 1n, units }],
    ),
    ...without(runs, taken).map(({ owner, first, end }) => ({
      ...{ contractId, owner, ids: end - first, units: end - first },
    })),
  ];
}
