import { type RawBuilder, sql } from "kysely";
import { clockAt } from "../engine/fact-window.ts";
import type { FactWindow } from "../engine/projection.ts";
import type { Session } from "../log/database.ts";
import { orderFigures, type Period, periods, salesColumns } from "./read-figures.ts";

/** Adds the collections of which an order may have started or ended since. */
export async function addTimeAffected(
  session: Session,
  schema: string,
  window: FactWindow,
): Promise<void> {
  await sql`
    insert into pg_temp.affected_collection
    select f.collection_id, false, false from ${sql.table(`${schema}.collection`)} f
    where f.next_change_at <= ${clockAt(window)}
      and not exists (select from pg_temp.affected_collection t where t.collection_id = f.collection_id)`.execute(
    session,
  );
}

/** Derives the figures of affected collections, none of which was added, removed, renamed or given other contracts. */
export async function deriveFigures(session: Session, schema: string): Promise<void> {
  await sql`
    with derived as materialized (
      select f.collection_id, d.*
      from (
        select t.*, l.chain_id, l.verified
        from pg_temp.affected_collection t join collections.collection l using (collection_id)
      ) f
      cross join lateral (${derived(schema)} offset 0) d
    ), stored_holder_stats as (${upsertChanged(schema, "holder_stats")})
    ${upsertChanged(schema, "collection")}`.execute(session);
}

/** Writes derived rows that differ: every new row version is one more entry in every index. */
function upsertChanged(schema: string, name: keyof typeof columns): RawBuilder<unknown> {
  const table = sql.table(`${schema}.${name}`);
  const names = columns[name].map((column) => sql.id(column));
  const of = (row: string) => sql.join(names.map((column) => sql`${sql.id(row)}.${column}`));
  return sql`
    insert into ${table} (collection_id, ${sql.join(names)})
    select d.collection_id, ${of("d")}
    from derived d
    left join lateral (
      select o.* from ${table} o where o.collection_id = d.collection_id offset 0
    ) old on true
    where (${of("old")}) is distinct from (${of("d")})
    on conflict (collection_id) do update
      set ${sql.join(names.map((column) => sql`${column} = excluded.${column}`))}`;
}

/** Derives the affected collections from their contracts and the order tables. */
export async function deriveCollections(session: Session, schema: string): Promise<void> {
  const before = await countAffected(session, schema);
  for (const name of ["collection", "holder_stats", "search_text"]) {
    await sql`
      delete from ${sql.table(`${schema}.${name}`)} f using pg_temp.affected_collection t
      where f.collection_id = t.collection_id
        and not exists (select from collections.collection c where c.collection_id = t.collection_id)`.execute(
      session,
    );
  }
  await deriveFigures(session, schema);
  await updateSearchTexts(session, schema);
  await updateCollectionCounts(session, schema, before, await countAffected(session, schema));
}

/** Columns of each table. */
const columns = {
  collection: [
    "chain_id",
    "verified",
    "listed",
    ...salesColumns,
    "floor_wei",
    "floor",
    "floor_buyable",
    "best_offer",
    "next_change_at",
    ...periods.map((period) => `change_${period}`),
  ],
  holder_stats: ["chain_id", "verified", "supply", "holders"],
} as const;

/** SQL: the columns of collection `f`. */
function derived(schema: string): RawBuilder<unknown> {
  const contract = sql.table(`${schema}.contract`);
  const sums = ["listed", ...salesColumns].map(
    (name) => sql`sum(${sql.id(name)}) as ${sql.id(name)}`,
  );
  const changes = periods.map(
    (period) => sql`${floorChange(schema, period)} as ${sql.id(`change_${period}`)}`,
  );
  return sql`
    select f.chain_id, f.verified, totals.*, owned.supply,
           case when cardinality(totals.contracts) = 1 then owned.holders else (${distinctHolders(schema)}) end as holders,
           orders.floor_wei, orders.floor, orders.floor_buyable, orders.best_offer,
           least(
             orders.best_ends_at,
             (select min(t.next_change_at) from ${ownContracts} cross join lateral (
                select next_change_at from ${sql.table(`${schema}.token`)} t
                where t.contract_id = c.contract_id order by next_change_at limit 1
              ) t),
             (select min(o.start_time) from bids.bid o
              where o.contract_id = any (totals.contracts) and o.kind = 'collection' and o.status = 'inactive'
                and o.reason = 'not_started')
           ) as next_change_at,
           ${sql.join(changes)}
    from (
      select array_agg(contract_id) as contracts, ${sql.join(sums)}
      from ${contract} where collection_id = f.collection_id
    ) totals
    cross join lateral (
      select coalesce(sum(case when o.standard = 1155 then o.units else o.supply end), 0)::numeric as supply,
             coalesce(sum(o.holders), 0)::numeric as holders
      from ownership.collection o where o.contract_id = any (totals.contracts)
    ) owned
    cross join lateral (${orderFigures(ownContracts, sql`true`)}) orders`;
}

/** SQL: the contracts `c` of a collection, looked up once. */
const ownContracts = sql`unnest(totals.contracts) c (contract_id)`;

/** SQL: distinct owners over several contracts; counted again only when a transfer touched one of them. */
function distinctHolders(schema: string): RawBuilder<unknown> {
  return sql`
    select case when f.recount_holders or stored.holders is null then (
             select count(distinct h.owner) from ownership.holder h where h.contract_id = any (totals.contracts)
           )::numeric else stored.holders end
    from (select) one left join ${sql.table(`${schema}.holder_stats`)} stored on stored.collection_id = f.collection_id`;
}

/** SQL: change of the floor since the snapshot one period before the last one, in millionths; null without either. */
function floorChange(schema: string, period: Period): RawBuilder<unknown> {
  return sql`
    (select round((orders.floor_wei - min(past.price_wei)) * 1000000 / min(past.price_wei))
     from ${sql.table(`${schema}.snapshot_clock`)} k cross join ${ownContracts}
     cross join lateral (
       select s.price_wei, s.valid_until from floors.floor s
       where s.contract_id = c.contract_id and s.valid_from <= k.${sql.ref(`before_${period}`)}
       order by s.valid_from desc limit 1
     ) past
     where k.chain_id = f.chain_id and orders.floor_wei is not null
       and (past.valid_until is null or past.valid_until > k.${sql.ref(`before_${period}`)}))`;
}

async function updateSearchTexts(session: Session, schema: string): Promise<void> {
  await sql`
    insert into ${sql.table(`${schema}.search_text`)} as n (collection_id, chain_id, verified, terms)
    select l.collection_id, l.chain_id, l.verified,
           concat_ws(chr(10), lower(l.name), l.slug, (
             select string_agg('0x' || encode(c.address, 'hex'), chr(10) order by c.address)
             from (
               select (select k.address from log.contract k where k.contract_id = c.contract_id) as address
               from ${sql.table(`${schema}.contract`)} c where c.collection_id = l.collection_id
             ) c
           ))
    from pg_temp.affected_collection t join collections.collection l using (collection_id)
    on conflict (collection_id) do update
      set chain_id = excluded.chain_id, verified = excluded.verified, terms = excluded.terms
      where (n.chain_id, n.verified, n.terms) is distinct from (excluded.chain_id, excluded.verified, excluded.terms)
  `.execute(session);
}

type Count = { chain_id: number; verified: boolean; collections: bigint };

/** How many of the affected collections exist. */
async function countAffected(session: Session, schema: string): Promise<Count[]> {
  const { rows } = await sql<Count>`
    select f.chain_id, f.verified, count(*) as collections
    from pg_temp.affected_collection t join ${sql.table(`${schema}.collection`)} f using (collection_id)
    group by f.chain_id, f.verified`.execute(session);
  return rows;
}

/** Updates the number of collections by how many were added and redelta. */
async function updateCollectionCounts(
  session: Session,
  schema: string,
  before: readonly Count[],
  after: readonly Count[],
): Promise<void> {
  const delta = new Map<string, Count>();
  for (const [counts, sign] of [[before, -1n] as const, [after, 1n] as const]) {
    for (const { chain_id, verified, collections } of counts) {
      const key = `${chain_id} ${verified}`;
      const sum = (delta.get(key)?.collections ?? 0n) + sign * collections;
      delta.set(key, { chain_id, verified, collections: sum });
    }
  }
  const count = sql.table(`${schema}.collection_count`);
  for (const { chain_id, verified, collections } of delta.values()) {
    if (collections === 0n) continue;
    await sql`
      insert into ${count} as t values (${chain_id}, ${verified}, ${collections})
      on conflict (chain_id, verified) do update set collections = t.collections + excluded.collections`.execute(
      session,
    );
    await sql`delete from ${count} where collections = 0`.execute(session);
  }
}
