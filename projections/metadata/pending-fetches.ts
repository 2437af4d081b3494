import { type RawBuilder, sql } from "kysely";
import { type Ids, unionOf, within, without } from "../domain/id-runs.ts";
import type { FactWindow } from "../engine/projection.ts";
import {
  type Areas,
  areaRows,
  areasOf,
  groupByContract,
  rangedAreas,
} from "../engine/token-ids.ts";
import type { Session } from "../log/database.ts";
import { kindList, kindLiteral } from "../log/fact-kinds.ts";
import { zeroAddress } from "../log/sql-values.ts";

/** SQL: whether the contract still knows the token: it is not burned, or lies at 0x…dead. */
export function mayHaveUri(token: "o" | "same"): RawBuilder<boolean> {
  const [isBurned, owner] = [sql.ref(`${token}.is_burned`), sql.ref(`${token}.owner`)];
  return sql<boolean>`(not ${isBurned} or coalesce(${owner} <> ${zeroAddress}, false))`;
}

/** Updates the lists of what was never fetched: tokens that their contract knows, and contracts with tokens. */
export async function derivePending(
  session: Session,
  schema: string,
  window: FactWindow,
): Promise<void> {
  const pending = sql.table(`${schema}.pending_token`);
  const token = sql.table(`${schema}.token`);
  // One list with what becomes of each: two lists, whose lengths the planner cannot know, it may compare row by row.
  await sql`
    with affected as materialized (
      select k.chain_id, d.contract_id, d.token_id, exists (
               select from ownership.token o
               where o.contract_id = d.contract_id and o.token_id = d.token_id and ${mayHaveUri("o")}
             ) and not exists (
               select from ${token} t where t.contract_id = d.contract_id and t.token_id = d.token_id
             ) as is_pending
      from (select distinct contract_id, token_id from (${affectedTokens(window, pending)}) d) d
      join log.contract k using (contract_id)
    ), removed as (
      delete from ${pending} p using affected d
      where p.chain_id = d.chain_id and p.contract_id = d.contract_id and p.token_id = d.token_id and not d.is_pending
    )
    insert into ${pending} (chain_id, contract_id, token_id)
    select chain_id, contract_id, token_id from affected where is_pending on conflict do nothing`.execute(
    session,
  );
  await deriveContracts(session, schema, window);
}

/** SQL: of a range, which may be of any length, only tokens with a row of their own, now or before. */
function affectedTokens(window: FactWindow, pending: RawBuilder<unknown>): RawBuilder<unknown> {
  const isOfRange = sql`
    t.contract_id = area.contract_id and t.token_id >= area.first_id and t.token_id < area.end_id`;
  return sql`
    select contract_id, token_id from ${window.changes} where kind in ${kindList("erc721_transfer", "erc1155_transfer", "token_metadata_fetched")}
    union all
    select area.contract_id, known.token_id
    from (${rangedAreas(window.changes)}) area join log.contract k using (contract_id)
    cross join lateral (
      select t.token_id from ownership.token t where ${isOfRange}
      union all
      select t.token_id from ${pending} t where t.chain_id = k.chain_id and ${isOfRange}
      offset 0
    ) known`;
}

async function deriveContracts(
  session: Session,
  schema: string,
  window: FactWindow,
): Promise<void> {
  const pending = sql.table(`${schema}.pending_contract`);
  await sql`
    with affected as materialized (
      select k.chain_id, d.contract_id
      from (
        select distinct contract_id from ${window.changes} where kind in ${kindList("erc721_transfer", "erc721_consecutive_transfer", "erc1155_transfer", "contract_metadata_fetched")}
      ) d
      join log.contract k using (contract_id)
    ), still_pending as materialized (
      select d.* from affected d join ownership.collection o using (contract_id)
      where not exists (
        select from ${sql.table(`${schema}.contract`)} c where c.contract_id = d.contract_id
      )
    ), removed as (
      delete from ${pending} p using affected d
      where p.chain_id = d.chain_id and p.contract_id = d.contract_id
        and not exists (select from still_pending a where a.contract_id = d.contract_id)
    )
    insert into ${pending} (chain_id, contract_id)
    select chain_id, contract_id from still_pending on conflict do nothing`.execute(session);
}

type ContractIds = Ids & { contractId: number };

/**
 * Tokens of a contract with ranges that are fetched before one moves. One event makes any number of them: what goes
 * beyond waits in `pending_range` until its token moves, and costs nobody anything.
 */
const FETCHED_OF_RANGES = 10_000;

/** Updates `pending_range` where a window's ranges, transfers and fetches may change it, and which contracts are due. */
export async function derivePendingRanges(
  session: Session,
  schema: string,
  window: FactWindow,
): Promise<void> {
  const { rows } = await sql<ContractIds>`${changedIds(schema, window)}`.execute(session);
  if (rows.length === 0) return;
  const areas = areasOf(rows);
  const pending = sql.table(`${schema}.pending_range`);
  const ranged = await readTouching(
    session,
    sql`ownership.token_range r`,
    sql`r.owner <> ${zeroAddress}`,
    areas,
  );
  const before = await readTouching(session, sql`${pending} r`, sql`true`, areas);
  const fetched = await readFetched(session, schema, areas);
  const after: ContractIds[] = [];
  for (const [contractId, changed] of areas) {
    const unmoved = within(unionOf(ranged.get(contractId) ?? []), changed);
    const kept = without(before.get(contractId) ?? [], changed);
    const found = without(unmoved, fetched.get(contractId) ?? []);
    for (const ids of unionOf([...kept, ...found])) after.push({ contractId, ...ids });
  }
  await replacePending(session, pending, [...before.values()].flat(), after);
  await deriveRangedContracts(session, schema, [...areas.keys()]);
}

/** Of events and fetches of one token: a transfer as ERC-1155 takes an id out of its range, too. */
const ofOneToken = kindList("erc721_transfer", "erc1155_transfer", "token_metadata_fetched");

/** Ids of contracts with ranges, as areas: ranges that came or went, and single tokens. */
function changedIds(schema: string, window: FactWindow): RawBuilder<unknown> {
  return sql`
    select contract_id as "contractId", token_id as first, token_id + amount as end
    from ${window.changes} where kind = ${kindLiteral("erc721_consecutive_transfer")} and amount > 0
    union
    select c.contract_id, c.token_id, c.token_id + 1
    from (
      select distinct contract_id from ${window.changes}
      where kind in ${ofOneToken} offset 0
    ) k
    join ${window.changes} c on c.contract_id = k.contract_id and c.token_id is not null
      and c.kind in ${ofOneToken}
    where exists (select from ownership.token_range r where r.contract_id = k.contract_id)
       or exists (select from ${sql.table(`${schema}.pending_range`)} p where p.contract_id = k.contract_id)`;
}

/** Rows `r` that overlap the areas or touch them. */
async function readTouching(
  session: Session,
  table: RawBuilder<unknown>,
  condition: RawBuilder<unknown>,
  areas: Areas,
): Promise<Map<number, ContractIds[]>> {
  const { rows } = await sql<ContractIds>`
    select distinct on (r.contract_id, r.first_id) r.contract_id as "contractId", r.first_id as first, r.last_id + 1 as end
    from ${areaRows(areas)}
    cross join lateral (
      (select contract_id, first_id, last_id from ${table}
       where r.contract_id = area.contract_id and r.first_id < area.first_id and ${condition}
       order by r.first_id desc limit 1)
      union all
      (select contract_id, first_id, last_id from ${table}
       where r.contract_id = area.contract_id and r.first_id >= area.first_id and r.first_id <= area.end_id and ${condition})
    ) r
    where r.last_id >= area.first_id - 1
    order by r.contract_id, r.first_id`.execute(session);
  return groupByContract(rows);
}

async function readFetched(session: Session, schema: string, areas: Areas): Promise<Areas> {
  const { rows } = await sql<ContractIds>`
    select t.contract_id as "contractId", t.token_id as first, t.token_id + 1 as end
    from ${areaRows(areas)}
    join ${sql.table(`${schema}.token`)} t
      on t.contract_id = area.contract_id and t.token_id >= area.first_id and t.token_id < area.end_id`.execute(
    session,
  );
  return areasOf(rows);
}

async function replacePending(
  session: Session,
  pending: RawBuilder<unknown>,
  before: readonly ContractIds[],
  after: readonly ContractIds[],
): Promise<void> {
  const nameOf = ({ contractId, first, end }: ContractIds) => `${contractId} ${first} ${end}`;
  const [old, current] = [new Set(before.map(nameOf)), new Set(after.map(nameOf))];
  const rowsOf = (ids: readonly ContractIds[]) => areaRows(groupByContract(ids));
  const removed = before.filter((ids) => !current.has(nameOf(ids)));
  const added = after.filter((ids) => !old.has(nameOf(ids)));
  if (removed.length > 0)
    await sql`
      delete from ${pending} p using ${rowsOf(removed)}
      where p.contract_id = area.contract_id and p.first_id = area.first_id`.execute(session);
  if (added.length > 0)
    await sql`
      insert into ${pending} (contract_id, chain_id, first_id, last_id)
      select contract_id, k.chain_id, area.first_id, area.end_id - 1
      from ${rowsOf(added)} join log.contract k using (contract_id)`.execute(session);
}

/** SQL: which of the contracts with pending ranges are due: those with fewer tokens fetched than are fetched at most. */
function rangedContracts(schema: string, condition: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    select p.chain_id, p.contract_id
    from (select distinct chain_id, contract_id from ${sql.table(`${schema}.pending_range`)} where ${condition}) p
    where (
      select count(*) from (
        select from ${sql.table(`${schema}.token`)} t where t.contract_id = p.contract_id limit ${sql.lit(FETCHED_OF_RANGES)}
      ) fetched
    ) < ${sql.lit(FETCHED_OF_RANGES)}`;
}

async function deriveRangedContracts(
  session: Session,
  schema: string,
  contracts: readonly number[],
): Promise<void> {
  const table = sql.table(`${schema}.pending_ranged_contract`);
  const ofWindow = sql`contract_id = any (${contracts}::int[])`;
  await sql`
    with due as materialized (${rangedContracts(schema, ofWindow)}), removed as (
      delete from ${table} where ${ofWindow} and contract_id not in (select contract_id from due)
    )
    insert into ${table} (chain_id, contract_id) select * from due on conflict do nothing`.execute(
    session,
  );
}

/**
 * The same from all ranges and fetches. Between the ends of joined ranges and the fetched ids, all in one order, lie the
 * pending ones: those where more ranges have begun than ended.
 */
export async function deriveAllPendingRanges(session: Session, schema: string): Promise<void> {
  const pending = sql.table(`${schema}.pending_range`);
  const contract = sql`contract_id in (select contract_id from ownership.token_range where owner <> ${zeroAddress})`;
  await sql`
    insert into ${pending} (contract_id, chain_id, first_id, last_id)
    select g.contract_id, k.chain_id, g.first_id, g.last_id
    from (
      select contract_id, id + 1 as first_id,
             lead(id) over (partition by contract_id order by id) - 1 as last_id,
             sum(step) over (partition by contract_id order by id) as depth
      from (
        select contract_id, min(first_id) - 1 as id, 1 as step from (${joinedRanges}) joined group by contract_id, run
        union all
        select contract_id, max(last_id) + 1, -1 from (${joinedRanges}) joined group by contract_id, run
        union all
        select contract_id, token_id, 0 from ${sql.table(`${schema}.token`)} where ${contract}
      ) bound
    ) g
    join log.contract k using (contract_id)
    where g.depth > 0 and g.first_id <= g.last_id
    order by 1, 3`.execute(session);
  await sql`analyze ${sql.id(schema, "pending_range")}`.execute(session);
  await sql`
    insert into ${sql.table(`${schema}.pending_ranged_contract`)} (chain_id, contract_id)
    ${rangedContracts(schema, sql`true`)}`.execute(session);
}

/** SQL: ranges that the contract still knows, numbered so that those that touch have one number. */
const joinedRanges = sql`
  select contract_id, first_id, last_id, sum(is_apart) over (partition by contract_id order by first_id) as run
  from (
    select contract_id, first_id, last_id,
           (first_id - 1 is distinct from lag(last_id) over (partition by contract_id order by first_id))::int as is_apart
    from ownership.token_range where owner <> ${zeroAddress}
  ) r`;
