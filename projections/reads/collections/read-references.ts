import { sql } from "kysely";
import type { Hex } from "viem";
import type { Session } from "../../database.ts";

/** What names a collection. */
export type CollectionName = {
  collectionId: number;
  address: Hex;
  slug: string | null;
  name: string | null;
};

/** Of addresses of contracts (lower case) the collections that they belong to; of what is none, nothing. */
export async function readCollectionIds(
  session: Session,
  chainId: number,
  addresses: readonly Hex[],
): Promise<Map<Hex, number>> {
  const digits = addresses.map((address) => address.slice(2));
  const { rows } = await sql<{ contract: Hex; collectionId: number }>`
    select k.address as contract, c.collection_id as "collectionId"
    from log.contract k
    left join collections.member m using (contract_id)
    join collections.collection c on c.collection_id = coalesce(m.collection_id, k.contract_id)
    where k.chain_id = ${chainId}
      and k.address = any (array(select decode(asked, 'hex') from unnest(${digits}::text[]) asked))`.execute(
    session,
  );
  return new Map(rows.map(({ contract, collectionId }) => [contract, collectionId]));
}

/** Of contracts the collections that they belong to; a contract that nobody registered is one without a name. */
export async function readCollectionNames(
  session: Session,
  contractIds: readonly number[],
): Promise<Map<number, CollectionName>> {
  const { rows } = await sql<CollectionName & { contractId: number }>`
    select k.contract_id as "contractId", coalesce(c.collection_id, k.contract_id) as "collectionId",
           coalesce(main.address, k.address) as address, c.slug, c.name
    from log.contract k
    left join collections.member m using (contract_id)
    left join collections.collection c on c.collection_id = coalesce(m.collection_id, k.contract_id)
    left join log.contract main on main.contract_id = c.collection_id
    where k.contract_id = any (${[...new Set(contractIds)]}::int[])`.execute(session);
  return new Map(rows.map((row) => [row.contractId, row]));
}
