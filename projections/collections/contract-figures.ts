import { type RawBuilder, sql } from "kysely";
import { clockAt, holdsAny } from "../engine/fact-window.ts";
import type { FactWindow, WindowWithKinds } from "../engine/projection.ts";
import { openScratchTables } from "../engine/scratch.ts";
import type { Session } from "../log/database.ts";
import { type FactKind, kindList, kindLiteral } from "../log/fact-kinds.ts";
import {
  affectedBids,
  affectedListings,
  listingTermsKinds,
} from "../orders/find-affected-orders.ts";
import { salesColumns } from "./read-figures.ts";

const transfers = [
  "erc721_transfer",
  "erc721_consecutive_transfer",
  "erc1155_transfer",
] as const satisfies readonly FactKind[];
const figures = ["listed", ...salesColumns];

/**
 * Session tables for what a window changes: affected contracts and collections, and differences of figures. Without
 * indexes: emptying an indexed one at commit would invalidate every plan that uses it.
 */
export async function openAffected(session: Session): Promise<void> {
  const sums = figures.map((name) => `"${name}" numeric not null default 0`);
  await openScratchTables(session, {
    affected_contract: "contract_id integer",
    figure_delta: `contract_id integer, ${sums.join(", ")}`,
    affected_collection:
      "collection_id integer not null, recount_holders boolean not null, contracts_changed boolean not null",
  });
  await sql`
    with contracts as (delete from pg_temp.affected_contract), figures as (delete from pg_temp.figure_delta)
    delete from pg_temp.affected_collection`.execute(session);
}

/** Lists contracts whose orders, owners or registry entries a window's facts may change. */
export async function findAffectedContracts(
  session: Session,
  schema: string,
  window: WindowWithKinds,
): Promise<void> {
  const named = [...transfers, "contract_described", "order_submitted"] as const;
  const affected: RawBuilder<unknown>[] = [
    sql`select contract_id from pg_temp.figure_delta`,
    ...(holdsAny(window.kinds, named)
      ? [sql`select contract_id from ${window.changes} where kind in ${kindList(...named)}`]
      : []),
    ...(holdsAny(window.kinds, ["collection_registered"])
      ? [registryContracts(schema, window)]
      : []),
    ...contractsOfAffectedBids(window),
  ];
  await sql`
    insert into pg_temp.affected_contract ${sql.join(affected, sql` union `)}`.execute(session);
}

/** Of the bids that facts may change those on whole contracts. */
function contractsOfAffectedBids(window: WindowWithKinds): RawBuilder<unknown>[] {
  const affected = affectedBids(window, sql`bids.bid`);
  if (affected.length === 0) return [];
  return [
    sql`
    select b.contract_id from (${sql.join(affected, sql` union `)}) t
    cross join lateral (
      select o.contract_id from bids.bid o
      where o.order_hash = t.order_hash and o.chain_id = t.chain_id and o.kind = 'collection' offset 0
    ) b`,
  ];
}

/** All contracts that registry entries name or named: few compared with all contracts. */
function registryContracts(schema: string, window: FactWindow): RawBuilder<unknown> {
  return sql`
    select contract_id from ${window.changes} where kind = ${kindLiteral("collection_registered")}
    union all
    select k.contract_id from collections.registry_contract c
    join log.contract k on k.chain_id = c.chain_id and k.address = c.address
    union all
    select contract_id from ${sql.table(`${schema}.contract`)} where collection_id <> contract_id`;
}

/** Lists every contract with figures or a collection, for empty tables. */
export async function addAllContracts(session: Session): Promise<void> {
  await sql`
    insert into pg_temp.affected_contract
    select contract_id from collections.contract union select contract_id from pg_temp.figure_delta`.execute(
    session,
  );
}

/**
 * Adds the differences to the affected contracts and updates their collections. Lists the collections that have or had
 * them as affected. Returns whether the contracts of any collection changed.
 */
export async function updateContracts(
  session: Session,
  schema: string,
  window: FactWindow,
  recount: { all: boolean },
): Promise<boolean> {
  const contract = sql.table(`${schema}.contract`);
  const columns = sql.join(figures.map((name) => sql.id(name)));
  const sums = sql.join(figures.map((name) => sql`sum(${sql.id(name)}) as ${sql.id(name)}`));
  const added = sql.join(
    figures.map((name) => sql`${sql.id(name)} = c.${sql.id(name)} + m.${sql.id(name)}`),
  );
  const zeroes = sql.join(
    figures.map((name) => sql`coalesce(d.${sql.id(name)}, 0) as ${sql.id(name)}`),
  );
  const { rows } = await sql<{ contracts_changed: boolean }>`
    with delta as materialized (
      select t.contract_id, k.chain_id, n.collection_id, o.collection_id as old_collection_id,
             o.contract_id is null as is_new, o.collection_id is distinct from n.collection_id as is_reassigned,
             n.collection_id is not null or coalesce(o.sales_all, 0) + coalesce(d.sales_all, 0) <> 0
               or coalesce(o.listed, 0) + coalesce(d.listed, 0) <> 0 as is_known,
             ${zeroes}
      from (select distinct contract_id from pg_temp.affected_contract) t
      join log.contract k using (contract_id)
      left join collections.contract n using (contract_id)
      left join ${contract} o using (contract_id)
      left join (select contract_id, ${sums} from pg_temp.figure_delta group by contract_id) d using (contract_id)
    ), updated as (
      update ${contract} c set collection_id = m.collection_id, ${added}
      from delta m
      where m.is_known and not m.is_new and c.contract_id = m.contract_id and (m.is_reassigned or ${hasDelta})
    ), removed as (
      delete from ${contract} c using delta m where not m.is_known and c.contract_id = m.contract_id
    ), inserted as (
      insert into ${contract} (contract_id, chain_id, collection_id, ${columns})
      select contract_id, chain_id, collection_id, ${columns} from delta m
      where is_new and is_known
    ), transferred as (
      select distinct contract_id from ${window.changes} where kind in ${kindList(...transfers)} and ${!recount.all}
    )
    insert into pg_temp.affected_collection (collection_id, recount_holders, contracts_changed)
    select f.collection_id, bool_or(f.is_reassigned or ${recount.all} or r.contract_id is not null),
           bool_or(f.is_reassigned)
    from (
      select collection_id, contract_id, is_reassigned from delta where collection_id is not null
      union all
      select old_collection_id, contract_id, is_reassigned from delta where old_collection_id is not null
    ) f
    left join transferred r using (contract_id)
    group by f.collection_id
    returning contracts_changed`.execute(session);
  return rows.some(({ contracts_changed }) => contracts_changed);
}

const hasDelta = sql`(${sql.join(
  figures.map((name) => sql`m.${sql.id(name)} <> 0`),
  sql` or `,
)})`;

/** SQL: over a token's listings `l`, whether one is active, and when the first of them ends or starts. */
const listingState = sql`
  coalesce(bool_or(l.status = 'active'), false) as is_listed,
  min(case when l.status = 'active' then l.end_time else l.start_time end) as next_change_at`;

/** SQL: listings that are active or start later. */
const isRelevant = sql`
  l.status in ('active', 'inactive') and (l.status = 'active' or l.reason = 'not_started')`;

/** Derives the tokens whose listings a window's facts may have changed; `listings` is at the window's end already. */
export async function deriveListedTokens(
  session: Session,
  schema: string,
  window: WindowWithKinds,
): Promise<void> {
  const affected = affectedTokens(schema, window);
  if (affected.length === 0) return;
  const token = sql.table(`${schema}.token`);
  const sameToken = sql`t.contract_id = c.contract_id and t.token_id = c.token_id`;
  await sql`
    with affected as materialized (
      select distinct contract_id, token_id from (${sql.join(affected, sql` union all `)}) one
    ),
    changed as materialized (
      select t.contract_id, t.token_id, l.is_listed, l.next_change_at, o.contract_id is null as is_new,
             coalesce(o.is_listed, false) as was_listed
      from affected t
      cross join lateral (
        select ${listingState} from listings.listing l
        where l.contract_id = t.contract_id and l.token_id = t.token_id and ${isRelevant}
      ) l
      left join ${token} o using (contract_id, token_id)
    ), removed as (
      delete from ${token} t using changed c where c.next_change_at is null and ${sameToken}
    ), updated as (
      update ${token} t set is_listed = c.is_listed, next_change_at = c.next_change_at
      from changed c where c.next_change_at is not null and not c.is_new and ${sameToken}
        and (t.is_listed, t.next_change_at) is distinct from (c.is_listed, c.next_change_at)
    ), inserted as (
      insert into ${token} (contract_id, token_id, is_listed, next_change_at)
      select contract_id, token_id, is_listed, next_change_at from changed where is_new and next_change_at is not null
    )
    insert into pg_temp.figure_delta (contract_id, listed)
    select contract_id, sum(is_listed::int - was_listed::int) from changed group by contract_id`.execute(
    session,
  );
}

function affectedTokens(schema: string, window: WindowWithKinds): RawBuilder<unknown>[] {
  const tokens = affectedListings(window, sql`listings.listing`).map(
    (affected) => sql`select contract_id, token_id from (${affected}) affected`,
  );
  if (holdsAny(window.kinds, listingTermsKinds)) {
    tokens.push(sql`
      select l.contract_id, l.token_id
      from (select distinct order_hash from ${window.changes} where kind in ${kindList(...listingTermsKinds)}) c
      cross join lateral (
        select l.contract_id, l.token_id from listings.listing l where l.order_hash = c.order_hash offset 0
      ) l`);
  }
  // The listings' end times find only those still open; tokens know when one of theirs ended.
  if (holdsAny(window.kinds, ["clock_ticked"])) {
    tokens.push(sql`
      select t.contract_id, t.token_id from ${sql.table(`${schema}.token`)} t where t.next_change_at <= ${clockAt(window)}`);
  }
  return tokens;
}

/** The same of all tokens, for empty tables. */
export async function deriveAllListedTokens(session: Session, schema: string): Promise<void> {
  const token = sql.table(`${schema}.token`);
  await sql`
    insert into ${token} (contract_id, token_id, is_listed, next_change_at)
    select l.contract_id, l.token_id, ${listingState} from listings.listing l where ${isRelevant}
    group by l.contract_id, l.token_id`.execute(session);
  await sql`
    insert into pg_temp.figure_delta (contract_id, listed)
    select contract_id, count(*) from ${token} where is_listed group by contract_id`.execute(
    session,
  );
}
