import { sql } from "kysely";
import type { Address, Hex } from "viem";
import type { Database, Session } from "../log/database.ts";
import { bytea, byteaArray } from "../log/sql-values.ts";

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

/** Those of the chain's `contracts` (lower case) that are known NFT contracts, with the standard of their transfers. */
export async function readKnownContracts(
  db: Database,
  chainId: number,
  contracts: readonly Address[],
): Promise<Map<Address, "erc721" | "erc1155" | null>> {
  const { rows } = await sql<{ contract: Address; standard: number | null }>`
    select k.address as contract, m.standard
    from log.contract k join collections.contract m using (contract_id)
    where k.chain_id = ${chainId}
      and k.address = any (${byteaArray([...new Set(contracts)])})`.execute(db);
  return new Map(rows.map(({ contract, standard }) => [contract, nameOf(standard)]));
}

function nameOf(standard: number | null): "erc721" | "erc1155" | null {
  if (standard === null) return null;
  return standard === 721 ? "erc721" : "erc1155";
}
