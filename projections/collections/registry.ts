import { sql } from "kysely";
import type { Session } from "../log/database.ts";

/** Contracts and collections whose rows a changed registry may change. */
type Affected = { contracts: number[]; collections: number[] };

/**
 * Derives the registry in force from all entries: they are few, and each may affect every other. The latest entry of a
 * primary contract is in force, unless it is a removal or a later entry of another primary names that contract.
 */
export async function deriveRegistry(session: Session, schema: string): Promise<Affected> {
  const before = await readAffected(session, schema);
  await deriveRegistryCollections(session, schema);
  await deriveRegistryContracts(session, schema);
  const after = await readAffected(session, schema);
  return {
    contracts: [...before.contracts, ...after.contracts],
    collections: [...before.collections, ...after.collections],
  };
}

async function readAffected(session: Session, schema: string): Promise<Affected> {
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

/** A slug claimed by several belongs to the one that has claimed it longest without a break; the others get their address. */
async function deriveRegistryCollections(session: Session, schema: string): Promise<void> {
  const registration = sql.table(`${schema}.registration`);
  const registryCollection = sql.table(`${schema}.registry_collection`);
  await sql`delete from ${registryCollection}`.execute(session);
  await sql`
    with latest as (
      select distinct on (collection_id) * from ${registration} order by collection_id, position desc
    ), in_force as (
      select l.* from latest l
      -- An entry without contracts removes its collection from the registry.
      where cardinality(l.contracts) > 0 and not exists (
        select from latest other
        where other.chain_id = l.chain_id and other.position > l.position and l.address = any (other.contracts)
      )
    ), ranked as (
      select s.*, history.first_at,
             row_number() over (partition by s.chain_id, s.slug order by slug_history.since) as slug_rank
      from in_force s
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
    insert into ${registryCollection}
    select collection_id,
           case when slug_rank = 1 and slug is not null and slug !~* '^0x[0-9a-f]{40}$' then slug
                else '0x' || encode(address, 'hex') end,
           name, verified, first_at, recorded_at, royalty_recipient, royalty_bps
    from ranked`.execute(session);
}

/** A contract named by several entries belongs to the latest. */
async function deriveRegistryContracts(session: Session, schema: string): Promise<void> {
  const registryContract = sql.table(`${schema}.registry_contract`);
  await sql`delete from ${registryContract}`.execute(session);
  await sql`
    insert into ${registryContract}
    select distinct on (r.chain_id, named.address) r.chain_id, named.address, r.collection_id
    from (
      select distinct on (collection_id) * from ${sql.table(`${schema}.registration`)}
      order by collection_id, position desc
    ) r
    join ${sql.table(`${schema}.registry_collection`)} in_force on in_force.collection_id = r.collection_id
    cross join unnest(r.contracts) named (address)
    order by r.chain_id, named.address, r.position desc`.execute(session);
}
