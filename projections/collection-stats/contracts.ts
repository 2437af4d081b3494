import { type RawBuilder, sql } from "kysely";
import { touchedBy } from "../bids/touched.ts";
import type { Session } from "../database.ts";
import { openScratches } from "../engine/scratch.ts";
import { factKind } from "../log/fact-kind.ts";
import { tradedColumns } from "./periods.ts";

const {
  erc721_transfer,
  erc721_consecutive_transfer,
  erc1155_transfer,
  collection_registered,
  contract_described,
  order_submitted,
} = factKind;
const transfers = [erc721_transfer, erc721_consecutive_transfer, erc1155_transfer];
const figures = ["listed", ...tradedColumns];

/**
 * Where a call notes whose figures it moves, and by how much. No index: one that is emptied at commit has every plan that
 * names its table made anew.
 */
export async function openTouched(session: Session): Promise<void> {
  const sums = figures.map((name) => `"${name}" numeric not null default 0`);
  await openScratches(session, {
    touched_contract: "contract_id integer",
    moved_figures: `contract_id integer, ${sums.join(", ")}`,
    touched_family:
      "collection_id integer not null, recounts boolean not null, regroups boolean not null",
  });
  await sql`
    with contracts as (delete from pg_temp.touched_contract), figures as (delete from pg_temp.moved_figures)
    delete from pg_temp.touched_family`.execute(session);
}

/** Contracts of which a window's facts may change what the books, owners or the registry say. */
export async function touchContracts(
  session: Session,
  schema: string,
  kinds: ReadonlySet<number>,
  upTo: bigint,
): Promise<void> {
  const named = [contract_described, ...transfers].filter((kind) => kinds.has(kind));
  const touched: RawBuilder<unknown>[] = [
    sql`select contract_id from pg_temp.moved_figures`,
    ...(named.length > 0
      ? [sql`select contract_id from change where kind in (${sql.join(named)})`]
      : []),
    ...(kinds.has(order_submitted)
      ? [sql`select contract_id from change where kind = ${order_submitted}`]
      : []),
    ...(kinds.has(collection_registered) ? [registryContracts(schema)] : []),
    ...bidContracts(kinds, upTo),
  ];
  await sql`
    insert into pg_temp.touched_contract ${sql.join(touched, sql` union `)}`.execute(session);
}

/** Of the bids that facts may change those on whole contracts. */
function bidContracts(kinds: ReadonlySet<number>, upTo: bigint): RawBuilder<unknown>[] {
  const touched = touchedBy(kinds, sql.table("bids.bid"), upTo);
  if (touched.length === 0) return [];
  return [
    sql`
    select b.contract_id from (${sql.join(touched, sql` union `)}) t
    cross join lateral (
      select o.contract_id from bids.bid o
      where o.order_hash = t.order_hash and o.chain_id = t.chain_id and o.token_id is null offset 0
    ) b`,
  ];
}

/** All that an entry of the registry is or was about: few beside all contracts. */
function registryContracts(schema: string): RawBuilder<unknown> {
  return sql`
    select contract_id from change where kind = ${collection_registered}
    union all
    select k.contract_id from collections.claim c
    join log.contract k on k.chain_id = c.chain_id and k.address = c.address
    union all
    select contract_id from ${sql.table(`${schema}.contract`)} where collection_id <> contract_id`;
}

/** Every contract there is something to say about, for empty tables. */
export async function touchAllContracts(session: Session): Promise<void> {
  await sql`
    insert into pg_temp.touched_contract
    select contract_id from collections.member union select contract_id from pg_temp.moved_figures`.execute(
    session,
  );
}

/**
 * Adds what moved to the touched contracts, and says whose they are. Touched families are those that have them and
 * those that had them. Returns whether any of them is made up otherwise than before.
 */
export async function storeContracts(
  session: Session,
  schema: string,
  recounted: { all: boolean },
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
  const { rows } = await sql<{ regroups: boolean }>`
    with moved as materialized (
      select t.contract_id, k.chain_id, n.collection_id, o.collection_id as old_collection_id,
             o.contract_id is null as is_new, o.collection_id is distinct from n.collection_id as is_regrouped,
             n.collection_id is not null or coalesce(o.sales_all, 0) + coalesce(d.sales_all, 0) <> 0
               or coalesce(o.listed, 0) + coalesce(d.listed, 0) <> 0 as is_known,
             ${zeroes}
      from (select distinct contract_id from pg_temp.touched_contract) t
      join log.contract k using (contract_id)
      left join collections.member n using (contract_id)
      left join ${contract} o using (contract_id)
      left join (select contract_id, ${sums} from pg_temp.moved_figures group by contract_id) d using (contract_id)
    ), stored as (
      update ${contract} c set collection_id = m.collection_id, ${added}
      from moved m
      where m.is_known and not m.is_new and c.contract_id = m.contract_id and (m.is_regrouped or ${anyMoved})
    ), forgotten as (
      delete from ${contract} c using moved m where not m.is_known and c.contract_id = m.contract_id
    ), found as (
      insert into ${contract} (contract_id, chain_id, collection_id, ${columns})
      select contract_id, chain_id, collection_id, ${columns} from moved m
      where is_new and is_known
    ), recounted as (
      select distinct contract_id from change where kind in (${sql.join(transfers)}) and ${!recounted.all}
    )
    insert into pg_temp.touched_family (collection_id, recounts, regroups)
    select f.collection_id, bool_or(f.is_regrouped or ${recounted.all} or r.contract_id is not null),
           bool_or(f.is_regrouped)
    from (
      select collection_id, contract_id, is_regrouped from moved where collection_id is not null
      union all
      select old_collection_id, contract_id, is_regrouped from moved where old_collection_id is not null
    ) f
    left join recounted r using (contract_id)
    group by f.collection_id
    returning regroups`.execute(session);
  return rows.some(({ regroups }) => regroups);
}

const anyMoved = sql`(${sql.join(
  figures.map((name) => sql`m.${sql.id(name)} <> 0`),
  sql` or `,
)})`;
