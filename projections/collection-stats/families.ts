import { type RawBuilder, sql } from "kysely";
import type { Session } from "../database.ts";
import { clockAt } from "../orders/clock.ts";
import { bookFigures } from "./book-figures.ts";
import { type Period, periods, tradedColumns } from "./periods.ts";

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
  const family = sql.table(`${schema}.family`);
  const names = columns.map((name) => sql.id(name));
  await sql`
    insert into ${family} (collection_id, ${sql.join(names)})
    select f.collection_id, ${sql.join(names.map((name) => sql`d.${name}`))}
    from (
      select t.*, l.chain_id, l.verified
      from pg_temp.touched_family t join collections.collection l using (collection_id)
    ) f
    cross join lateral (${derived(schema)} offset 0) d
    left join lateral (
      select o.* from ${family} o where o.collection_id = f.collection_id offset 0
    ) old on true
    where (${sql.join(names.map((name) => sql`old.${name}`))})
          is distinct from (${sql.join(names.map((name) => sql`d.${name}`))})
    on conflict (collection_id) do update
      set ${sql.join(names.map((name) => sql`${name} = excluded.${name}`))}`.execute(session);
}

/** Derives the touched families anew from their contracts and the books. */
export async function deriveFamilies(session: Session, schema: string): Promise<void> {
  const before = await countTouched(session, schema);
  const family = sql.table(`${schema}.family`);
  await sql`
    delete from ${family} f using pg_temp.touched_family t
    where f.collection_id = t.collection_id
      and not exists (select from collections.collection c where c.collection_id = t.collection_id)`.execute(
    session,
  );
  await deriveFigures(session, schema);
  await storeNames(session, schema);
  await moveTotals(session, schema, before, await countTouched(session, schema));
}

const columns = [
  "chain_id",
  "verified",
  "listed",
  "supply",
  "holders",
  ...tradedColumns,
  "floor_wei",
  "floor",
  "floor_buyable",
  "best_offer",
  "turns_at",
  ...periods.map((period) => `change_${period}`),
];

/** The columns of family `f`. */
function derived(schema: string): RawBuilder<unknown> {
  const contract = sql.table(`${schema}.contract`);
  const ofFamily = sql`in (select contract_id from ${contract} where collection_id = f.collection_id)`;
  const changes = periods.map(
    (period) => sql`${changeOf(schema, period)} as ${sql.id(`change_${period}`)}`,
  );
  return sql`
    select f.chain_id, f.verified, own.*, held.supply,
           case when own_contracts.number = 1 then held.holders else (${sharedHolders(schema)}) end as holders,
           book.floor_wei, book.floor, book.floor_buyable, book.best_offer,
           least(
             book.best_ends_at,
             (select min(t.turns_at) from ${contract} c cross join lateral (
                select turns_at from ${sql.table(`${schema}.token`)} t
                where t.contract_id = c.contract_id order by turns_at limit 1
              ) t where c.collection_id = f.collection_id),
             (select min(o.start_time) from bids.bid o
              where o.contract_id ${ofFamily} and o.token_id is null and o.status = 'inactive'
                and o.reason = 'not_started')
           ) as turns_at,
           ${sql.join(changes)}
    from (
      select ${sql.join(["listed", ...tradedColumns].map((name) => sql`sum(${sql.id(name)}) as ${sql.id(name)}`))}
      from ${contract} where collection_id = f.collection_id
    ) own
    cross join (select count(*) as number from ${contract} where collection_id = f.collection_id) own_contracts
    cross join lateral (
      select coalesce(sum(case when o.standard = 1155 then o.units else o.supply end), 0)::numeric as supply,
             coalesce(sum(o.holders), 0)::numeric as holders
      from ownership.collection o where o.contract_id ${ofFamily}
    ) held
    cross join lateral (${bookFigures(schema, sql`true`)}) book`;
}

/** An owner counts once, in however many contracts: only then are all owners looked at, and only when some moved. */
function sharedHolders(schema: string): RawBuilder<unknown> {
  const family = sql.table(`${schema}.family`);
  return sql`
    select case when f.recounts or kept.holders is null then (
             select count(distinct h.owner) from ${sql.table(`${schema}.contract`)} c
             join ownership.holder h using (contract_id) where c.collection_id = f.collection_id
           )::numeric else kept.holders end
    from (select) one left join ${family} kept on kept.collection_id = f.collection_id`;
}

/** Of the floor since the snapshot one period before the last one, in millionths; null where either had none. */
function changeOf(schema: string, period: Period): RawBuilder<unknown> {
  return sql`
    (select round((book.floor_wei - min(was.price_wei)) * 1000000 / min(was.price_wei))
     from ${sql.table(`${schema}.clock`)} k
     join ${sql.table(`${schema}.contract`)} c on c.collection_id = f.collection_id
     cross join lateral (
       select s.price_wei, s.until from floors.floor s
       where s.contract_id = c.contract_id and s.since <= k.${sql.ref(`before_${period}`)}
       order by s.since desc limit 1
     ) was
     where k.chain_id = f.chain_id
       and (was.until is null or was.until > k.${sql.ref(`before_${period}`)}))`;
}

async function storeNames(session: Session, schema: string): Promise<void> {
  const name = sql.table(`${schema}.name`);
  await sql`
    delete from ${name} n using pg_temp.touched_family t
    where n.collection_id = t.collection_id
      and not exists (select from collections.collection c where c.collection_id = t.collection_id)`.execute(
    session,
  );
  await sql`
    insert into ${name} as n (collection_id, chain_id, verified, words)
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

type Count = { chain_id: number; verified: boolean; rows: bigint };

async function countTouched(session: Session, schema: string): Promise<Count[]> {
  const { rows } = await sql<Count>`
    select f.chain_id, f.verified, count(*) as rows
    from pg_temp.touched_family t join ${sql.table(`${schema}.family`)} f using (collection_id)
    group by f.chain_id, f.verified`.execute(session);
  return rows;
}

async function moveTotals(
  session: Session,
  schema: string,
  before: readonly Count[],
  after: readonly Count[],
): Promise<void> {
  const moved = new Map<string, Count>();
  for (const [counts, sign] of [[before, -1n] as const, [after, 1n] as const]) {
    for (const { chain_id, verified, rows } of counts) {
      const key = `${chain_id} ${verified}`;
      const sum = (moved.get(key)?.rows ?? 0n) + sign * rows;
      moved.set(key, { chain_id, verified, rows: sum });
    }
  }
  const total = sql.table(`${schema}.total`);
  for (const { chain_id, verified, rows } of moved.values()) {
    if (rows === 0n) continue;
    await sql`
      insert into ${total} as t values (${chain_id}, ${verified}, ${rows})
      on conflict (chain_id, verified) do update set rows = t.rows + excluded.rows`.execute(
      session,
    );
    await sql`delete from ${total} where rows = 0`.execute(session);
  }
}
