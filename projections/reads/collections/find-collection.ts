import { sql } from "kysely";
import type { Hex } from "viem";
import type { Database } from "#projections/log/database.ts";
import { bytea } from "#projections/log/sql-values.ts";

/** The collection that a slug or an address refers to. */
export type CollectionRef = {
  collectionId: number;
  address: Hex;
  slug: string | null;
  name: string | null;
  /** All its contracts, the primary first. */
  contractIds: number[];
  /** The contract of the requested address; null for a slug. */
  contractId: number | null;
  /** False: a contract that no collection has, of which sales are known. */
  isCovered: boolean;
};

/** `key` is a slug or a 0x address, in any case. A contract with sales is known also where it is not covered. */
export async function findCollection(
  db: Database,
  chainId: number,
  key: string,
): Promise<CollectionRef | null> {
  const byAddress = /^0x[0-9a-f]{40}$/i.test(key);
  const requested = byAddress
    ? sql`
      select coalesce(m.collection_id, k.contract_id) as collection_id, k.contract_id
      from log.contract k left join collections.contract m using (contract_id)
      where k.chain_id = ${chainId} and k.address = ${bytea(key as Hex)}`
    : sql`
      select c.collection_id, null::int as contract_id from collections.collection c
      where c.chain_id = ${chainId} and c.slug = ${key.toLowerCase()}`;
  const { rows } = await sql<CollectionRef>`
    select requested.collection_id as "collectionId", k.address, c.slug, c.name, requested.contract_id as "contractId",
           c.collection_id is not null as "isCovered",
           array(
             select f.contract_id from (
               select requested.collection_id as contract_id
               union select m.contract_id from collections.contract m where m.collection_id = c.collection_id
             ) f order by f.contract_id <> requested.collection_id, f.contract_id
           ) as "contractIds"
    from (${requested}) requested
    left join collections.collection c using (collection_id)
    join log.contract k on k.contract_id = requested.collection_id
    where c.collection_id is not null
      or exists (select from sales.sale s where s.contract_id = requested.contract_id)`.execute(db);
  return rows[0] ?? null;
}
