import { sql } from "kysely";
import type { Session } from "../database.ts";

/** Whose rows a changed registry may change. */
type Touched = { contracts: number[]; collections: number[] };

/**
 * The registry in force, made anew from all entries: they are few and every one may bear on every other.
 * The latest entry of a primary contract stands, unless it is a removal or a later one of another primary names that
 * contract.
 */
export async function deriveRegistry(session: Session, schema: string): Promise<Touched> {
  const before = await readTouched(session, schema);
  await deriveRegistered(session, schema);
  await deriveClaims(session, schema);
  const after = await readTouched(session, schema);
  return {
    contracts: [...before.contracts, ...after.contracts],
    collections: [...before.collections, ...after.collections],
  };
}

async function readTouched(session: Session, schema: string): Promise<Touched> {
  const { rows } = await sql<{ contract_id: number; is_contract: boolean }>`
    select k.contract_id, true as is_contract
    from ${sql.table(`${schema}.registry_contract`)} c
    join log.contract k on k.chain_id = c.chain_id and k.address = c.address
    union all
    select collection_id, false from ${sql.table(`${schema}.registry_collection`)}`.execute(
    session,
  );
  const ids = (contract: boolean) =>
    rows.filter((row) => row.is_contract === contract).map((row) => row.contract_id);
  return { contracts: ids(true), collections: ids(false) };
}

/** A slug that several claim is theirs who has claimed it longest without a break; the others go by address. */
async function deriveRegistered(session: Session, schema: string): Promise<void> {
  const registration = sql.table(`${schema}.registration`);
  const registered = sql.table(`${schema}.registry_collection`);
  await sql`delete from ${registered}`.execute(session);
  await sql`
    with latest as (
      select distinct on (collection_id) * from ${registration} order by collection_id, position desc
    ), standing as (
      select l.* from latest l
      -- Without contracts it takes its collection out of the registry.
      where cardinality(l.contracts) > 0 and not exists (
        select from latest other
        where other.chain_id = l.chain_id and other.position > l.position and l.address = any (other.contracts)
      )
    ), held as (
      select s.*, history.first_at,
             row_number() over (partition by s.chain_id, s.slug order by slug_history.since) as turn
      from standing s
      cross join lateral (
        select min(r.recorded_at) as first_at,
               max(r.position) filter (where r.slug is distinct from s.slug) as other_slug
        from ${registration} r where r.collection_id = s.collection_id
      ) history
      cross join lateral (
        select min(r.position) as since from ${registration} r
        where r.collection_id = s.collection_id and r.position > coalesce(history.other_slug, 0)
      ) slug_history
    )
    insert into ${registered}
    select collection_id,
           case when turn = 1 and slug is not null and slug !~* '^0x[0-9a-f]{40}$' then slug
                else '0x' || encode(address, 'hex') end,
           name, verified, first_at, recorded_at, royalty_recipient, royalty_bps
    from held`.execute(session);
}

/** A contract that several families name belongs to the one that named it last. */
async function deriveClaims(session: Session, schema: string): Promise<void> {
  const claim = sql.table(`${schema}.registry_contract`);
  await sql`delete from ${claim}`.execute(session);
  await sql`
    insert into ${claim}
    select distinct on (r.chain_id, named.address) r.chain_id, named.address, r.collection_id
    from (
      select distinct on (collection_id) * from ${sql.table(`${schema}.registration`)}
      order by collection_id, position desc
    ) r
    join ${sql.table(`${schema}.registry_collection`)} standing on standing.collection_id = r.collection_id
    cross join unnest(r.contracts) named (address)
    order by r.chain_id, named.address, r.position desc`.execute(session);
}
