import { sql } from "kysely";
import type { Hex } from "viem";
import type { Session } from "#projections/log/database.ts";
import { byteaArray } from "#projections/log/sql-values.ts";

/** The names of a collection. */
export type CollectionName = {
  collectionId: number;
  address: Hex;
  slug: string | null;
  name: string | null;
};

/** By contract address (lower case), the id of its collection; absent: not in a collection. */
export async function readCollectionIds(
  session: Session,
  chainId: number,
  addresses: readonly Hex[],
): Promise<Map<Hex, number>> {
  const { rows } = await sql<{ contract: Hex; collectionId: number }>`
    select k.address as contract, c.collection_id as "collectionId"
    from log.contract k
    left join collections.contract m using (contract_id)
    join collections.collection c on c.collection_id = coalesce(m.collection_id, k.contract_id)
    where k.chain_id = ${chainId}
      and k.address = any (${byteaArray(addresses)})`.execute(session);
  return new Map(rows.map(({ contract, collectionId }) => [contract, collectionId]));
}

/** By contract, its collection; an unregistered contract is a collection of its own without a name. */
export async function readCollectionNames(
  session: Session,
  contractIds: readonly number[],
): Promise<Map<number, CollectionName>> {
  const { rows } = await sql<CollectionName & { contractId: number }>`
    select k.contract_id as "contractId", coalesce(c.collection_id, k.contract_id) as "collectionId",
           coalesce(main.address, k.address) as address, c.slug, c.name
    from log.contract k
    left join collections.contract m using (contract_id)
    left join collections.collection c on c.collection_id = coalesce(m.collection_id, k.contract_id)
    left join log.contract main on main.contract_id = c.collection_id
    where k.contract_id = any (${[...new Set(contractIds)]}::int[])`.execute(session);
  return new Map(rows.map((row) => [row.contractId, row]));
}
