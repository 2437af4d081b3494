import { type RawBuilder, sql } from "kysely";
import type { Session } from "../database.ts";
import { clockAt } from "../order-state/clock.ts";
import { bookFigures } from "./book-figures.ts";
import { type Period, periods, tradedColumns } from "./periods.ts";
import { countTouched, moveTotals } from "./totals.ts";

/** Families of which an order may have ended or begun since. */
export async function touchTurning(session: Session, schema: string, upTo: bigint): Promise<void> {
  await sql`
    insert into pg_temp.touched_family
    select f.collection_id, false, false from ${sql.table(`${schema}.family`)} f
    where f.turns_at <= ${clockAt(upTo)}
      and not exists (select from pg_temp.touched_family t where t.collection_id = f.collection_id)`.execute(
    session,
  );
}

/** Derives the touched families anew, of which none came or went and none is called or made up otherwise. */
export async function deriveFigures(session: Session, schema: string): Promise<void> {
  await sql`
    with derived as materialized (
      select f.collection_id, d.*
      from (
        select t.*, l.chain_id, l.verified
        from pg_temp.touched_family t join collections.collection l using (collection_id)
      ) f
      cross join lateral (${derived(schema)} offset 0) d
    ), held as (${storeDerived(schema, "held")})
    ${storeDerived(schema, "family")}`.execute(session);
}

/** Writes derived rows where they differ: each new one is one more in every index. */
function storeDerived(schema: string, name: keyof typeof columns): RawBuilder<unknown> {
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

/** Derives the touched families anew from their contracts and the books. */
export async function deriveFamilies(session: Session, schema: string): Promise<void> {
  const before = await countTouched(session, schema);
  for (const name of ["family", "held", "name"]) {
    await sql`
      delete from ${sql.table(`${schema}.${name}`)} f using pg_temp.touched_family t
      where f.collection_id = t.collection_id
        and not exists (select from collections.collection c where c.collection_id = t.collection_id)`.execute(
      session,
    );
  }
  await deriveFigures(session, schema);
  await storeNames(session, schema);
  await moveTotals(session, schema, before, await countTouched(session, schema));
}

/** What each of the tables tells of a family. */
const columns = {
  family: [
    "chain_id",
    "verified",
    "listed",
    ...tradedColumns,
    "floor_wei",
    "floor",
    "floor_buyable",
    "best_offer",
    "turns_at",
    ...periods.map((period) => `change_${period}`),
  ],
  held: ["chain_id", "verified", "supply", "holders"],
} as const;

/** The columns of family `f`. */
function derived(schema: string): RawBuilder<unknown> {
  const contract = sql.table(`${schema}.contract`);
  const sums = ["listed", ...tradedColumns].map(
    (name) => sql`sum(${sql.id(name)}) as ${sql.id(name)}`,
  );
  const changes = periods.map(
    (period) => sql`${changeOf(schema, period)} as ${sql.id(`change_${period}`)}`,
  );
  return sql`
    select f.chain_id, f.verified, own.*, held.supply,
           case when cardinality(own.contracts) = 1 then held.holders else (${sharedHolders(schema)}) end as holders,
           book.floor_wei, book.floor, book.floor_buyable, book.best_offer,
           least(
             book.best_ends_at,
             (select min(t.turns_at) from ${ownContracts} cross join lateral (
                select turns_at from ${sql.table(`${schema}.token`)} t
                where t.contract_id = c.contract_id order by turns_at limit 1
              ) t),
             (select min(o.start_time) from bids.bid o
              where o.contract_id = any (own.contracts) and o.token_id is null and o.status = 'inactive'
                and o.reason = 'not_started')
           ) as turns_at,
           ${sql.join(changes)}
    from (
      select array_agg(contract_id) as contracts, ${sql.join(sums)}
      from ${contract} where collection_id = f.collection_id
    ) own
    cross join lateral (
      select coalesce(sum(case when o.standard = 1155 then o.units else o.supply end), 0)::numeric as supply,
             coalesce(sum(o.holders), 0)::numeric as holders
      from ownership.collection o where o.contract_id = any (own.contracts)
    ) held
    cross join lateral (${bookFigures(ownContracts, sql`true`)}) book`;
}

/** The contracts `c` of a family, looked up once for all that is read of them. */
const ownContracts = sql`unnest(own.contracts) c (contract_id)`;

/** An owner counts once, in however many contracts: only then are all owners looked at, and only when some moved. */
function sharedHolders(schema: string): RawBuilder<unknown> {
  return sql`
    select case when f.recounts or kept.holders is null then (
             select count(distinct h.owner) from ownership.holder h where h.contract_id = any (own.contracts)
           )::numeric else kept.holders end
    from (select) one left join ${sql.table(`${schema}.held`)} kept on kept.collection_id = f.collection_id`;
}

/** Of the floor since the snapshot one period before the last one, in millionths; null where either had none. */
function changeOf(schema: string, period: Period): RawBuilder<unknown> {
  return sql`
    (select round((book.floor_wei - min(was.price_wei)) * 1000000 / min(was.price_wei))
     from ${sql.table(`${schema}.clock`)} k cross join ${ownContracts}
     cross join lateral (
       select s.price_wei, s.until from floors.floor s
       where s.contract_id = c.contract_id and s.since <= k.${sql.ref(`before_${period}`)}
       order by s.since desc limit 1
     ) was
     where k.chain_id = f.chain_id and book.floor_wei is not null
       and (was.until is null or was.until > k.${sql.ref(`before_${period}`)}))`;
}

async function storeNames(session: Session, schema: string): Promise<void> {
  await sql`
    insert into ${sql.table(`${schema}.name`)} as n (collection_id, chain_id, verified, words)
    select l.collection_id, l.chain_id, l.verified,
           concat_ws(chr(10), lower(l.name), (
             select string_agg('0x' || encode(k.address, 'hex'), chr(10) order by k.address)
             from ${sql.table(`${schema}.contract`)} c join log.contract k using (contract_id)
             where c.collection_id = l.collection_id
           ))
    from pg_temp.touched_family t join collections.collection l using (collection_id)
    on conflict (collection_id) do update
      set chain_id = excluded.chain_id, verified = excluded.verified, words = excluded.words
      where (n.chain_id, n.verified, n.words) is distinct from (excluded.chain_id, excluded.verified, excluded.words)
  `.execute(session);
}
