import { type RawBuilder, sql } from "kysely";
import type { Hex } from "viem";
import type { Database } from "#projections/log/database.ts";
import { beginsWith } from "#projections/sql/search-words.ts";
import { tokensAt } from "#projections/engine/token-ids.ts";

/** A token that a search finds, and its collection. */
export type TokenMatch = {
  chainId: number;
  contract: Hex;
  tokenId: bigint;
  name: string | null;
  image: string | null;
  collectionAddress: Hex;
  collectionSlug: string | null;
  collectionName: string | null;
  verified: boolean;
};

/** Rows of an index range that are looked at. */
const maxCandidates = 200;

/** The tokens of an id that contracts have, in the order of the contracts. */
export function readTokensAt(
  db: Database,
  contractIds: readonly number[],
  tokenId: bigint,
): Promise<TokenMatch[]> {
  return readMatches(
    db,
    sql`
      select t.contract_id, t.token_id, one.place
      from unnest(${contractIds}::int[]) with ordinality one (contract_id, place)
      cross join lateral (
        select * from ${tokensAt(sql`one.contract_id`, sql`${String(tokenId)}::numeric`)} t limit 1
      ) t`,
    sql`o.place`,
    contractIds.length,
  );
}

/** Tokens whose names begin with a text, in any case; those of verified collections first. */
export function readTokensByName(
  db: Database,
  chainIds: readonly number[],
  text: string,
  limit: number,
): Promise<TokenMatch[]> {
  const name = sql`(lower(left(t.name, 64)) collate "C")`;
  return readMatches(
    db,
    sql`
      select near.contract_id, near.token_id, row_number() over (order by near.name, near.contract_id, near.token_id) as place
      from unnest(${chainIds}::int[]) chain (chain_id)
      cross join lateral (
        select t.contract_id, t.token_id, ${name} as name from metadata.token t
        where t.chain_id = chain.chain_id and t.name is not null
          and ${beginsWith(name, sql`lower(left(${text}::text, 64))`)}
        order by ${name} limit ${maxCandidates}
      ) near`,
    sql`coalesce(c.verified, false) desc, o.place`,
    limit,
  );
}

async function readMatches(
  db: Database,
  found: RawBuilder<unknown>,
  order: RawBuilder<unknown>,
  limit: number,
): Promise<TokenMatch[]> {
  const { rows } = await sql<TokenMatch>`
    select traded.chain_id as "chainId", traded.address as contract, o.token_id as "tokenId", md.name, md.image,
           coalesce(main.address, traded.address) as "collectionAddress", c.slug as "collectionSlug",
           c.name as "collectionName", coalesce(c.verified, false) as verified
    from (${found}) o
    join log.contract traded on traded.contract_id = o.contract_id
    left join collections.contract m on m.contract_id = o.contract_id
    left join collections.collection c on c.collection_id = coalesce(m.collection_id, o.contract_id)
    left join log.contract main on main.contract_id = c.collection_id
    left join metadata.token md on md.contract_id = o.contract_id and md.token_id = o.token_id
    order by ${order}, o.contract_id, o.token_id limit ${limit}`.execute(db);
  return rows;
}
