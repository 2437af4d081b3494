import { type RawBuilder, sql } from "kysely";
import type { Session } from "../log/database.ts";
import { hasRoyalty } from "./stated-royalties.ts";

/** Replaces the rows of `contracts`. Returns the collections that they left or joined. */
export async function deriveContracts(
  session: Session,
  schema: string,
  contracts: readonly number[],
): Promise<number[]> {
  if (contracts.length === 0) return [];
  const contract = sql.table(`${schema}.contract`);
  const left = await sql<{ collection_id: number }>`
    delete from ${contract} where contract_id = any (${contracts}::int[]) returning collection_id
  `.execute(session);
  const joined = await sql<{ collection_id: number }>`
    insert into ${contract}
    select k.contract_id, coalesce(c.collection_id, k.contract_id), ${standard}, s.contract_id is not null,
           ${hasRoyalty(schema, sql`k.contract_id`)}
    from ${given(contracts)} join log.contract k using (contract_id)
    left join ${sql.table(`${schema}.first_transfer`)} d on d.contract_id = k.contract_id
    left join ${sql.table(`${schema}.registry_contract`)} c on c.chain_id = k.chain_id and c.address = k.address
    left join lateral (${newestDescription(schema)}) s on true
    where (d.contract_id is not null and (d.erc1155_block_id is not null or s.standard is distinct from 20))
      or c.collection_id = k.contract_id
      or (c.collection_id is not null and s.contract_id is not null)
    returning collection_id
  `.execute(session);
  return [...left.rows, ...joined.rows].map((row) => row.collection_id);
}

/** SQL: the standard of a contract's transfers; where it emits both sorts or none yet, that of its description. */
const standard = sql`case
  when d.erc721_block_id is not null and d.erc1155_block_id is null then 721
  when d.erc1155_block_id is not null and d.erc721_block_id is null then 1155
  else coalesce(nullif(s.standard, 20), case when d.contract_id is not null then 721 end)
end`;

/** Replaces the rows of `collections`. A collection exists while its primary contract is one of its contracts. */
export async function deriveCollections(
  session: Session,
  schema: string,
  collections: readonly number[],
): Promise<void> {
  const collection = sql.table(`${schema}.collection`);
  const contract = sql.table(`${schema}.contract`);
  await sql`
    delete from ${collection} where collection_id = any (${collections}::int[])
  `.execute(session);
  await sql`
    insert into ${collection}
    select k.contract_id, k.chain_id, coalesce(r.slug, '0x' || encode(k.address, 'hex')),
           coalesce(r.name, s.name), s.symbol, m.standard, coalesce(r.verified, false),
           r.collection_id is not null, first.block_id, coalesce(b.timestamp, r.first_at),
           greatest(b.timestamp, r.latest_at, s.recorded_at), r.royalty_recipient, r.royalty_bps
    from ${given(collections)} join log.contract k using (contract_id)
    join ${contract} m on m.contract_id = k.contract_id and m.collection_id = k.contract_id
    left join ${sql.table(`${schema}.registry_collection`)} r on r.collection_id = k.contract_id
    left join lateral (${newestDescription(schema)}) s on true
    cross join lateral (
      select min((
        select least(d.erc721_block_id, d.erc1155_block_id)
        from ${sql.table(`${schema}.first_transfer`)} d where d.contract_id = one.contract_id
      )) as block_id
      from ${contract} one where one.collection_id = k.contract_id
    ) first
    left join log.block b on b.block_id = first.block_id
  `.execute(session);
}

/**
 * SQL: contracts to join with. As a condition on another table's index the list would be searched once for each row of a
 * nested loop: of 10,000 new contracts 10,000 times.
 */
const given = (contracts: readonly number[]): RawBuilder<unknown> =>
  sql`unnest(${[...new Set(contracts)]}::int[]) given (contract_id)`;

/** SQL: the newest description of contract `k`, by the block it was read at. */
function newestDescription(schema: string): RawBuilder<unknown> {
  return sql`
    select * from ${sql.table(`${schema}.description`)} one
    where one.contract_id = k.contract_id
    order by one.block_id desc nulls last, one.position desc
    limit 1`;
}
