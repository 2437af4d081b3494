import { sql } from "kysely";
import type { Hex } from "viem";
import type { Database } from "../../database.ts";

/** Which contracts a slug or an address stands for. */
export type CollectionRef = {
  collectionId: number;
  address: Hex;
  slug: string | null;
  name: string | null;
  /** The family, primary first. */
  contractIds: number[];
  /** The contract of the address asked for. */
  contractId: number | null;
};

/** `key` is a slug or a 0x address, in any case. */
export async function findCollection(
  db: Database,
  chainId: number,
  key: string,
): Promise<CollectionRef | null> {
  const byAddress = /^0x[0-9a-f]{40}$/i.test(key);
  const named = byAddress
    ? sql`
      select coalesce(m.collection_id, k.contract_id) as collection_id, k.contract_id
      from log.contract k left join collections.member m using (contract_id)
      where k.chain_id = ${chainId} and k.address = decode(${key.slice(2)}, 'hex')`
    : sql`
      select c.collection_id, null::int as contract_id from collections.collection c
      where c.chain_id = ${chainId} and c.slug = ${key.toLowerCase()}`;
  const { rows } = await sql<CollectionRef>`
    select c.collection_id as "collectionId", k.address, c.slug, c.name, named.contract_id as "contractId",
           array(
             select f.contract_id from (
               select c.collection_id as contract_id
               union select m.contract_id from collections.member m where m.collection_id = c.collection_id
             ) f order by f.contract_id <> c.collection_id, f.contract_id
           ) as "contractIds"
    from (${named}) named
    join collections.collection c using (collection_id)
    join log.contract k on k.contract_id = c.collection_id`.execute(db);
  return rows[0] ?? null;
}
