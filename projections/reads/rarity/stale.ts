import { type RawBuilder, sql } from "kysely";
import type { Database } from "../../database.ts";
import { anyValue } from "../../sql/any-value.ts";

/** A collection whose ranking is not of the traits that its tokens have now. */
export type StaleRanking = { collectionId: number; tokens: number };

/** Of the live tokens of a collection's contracts, rows `t` of traits.contract. */
export const fingerprint = sql`
  string_agg(t.contract_id || ':' || t.fingerprint, ' ' order by t.contract_id) filter (where t.live > 0)`;

/** Smallest first: what takes long does not hold up the rest. None before there are traits at all. */
export async function readStaleRankings(db: Database): Promise<StaleRanking[]> {
  const traits = await sql`select from engine.checkpoint where projection = 'traits'`.execute(db);
  if (traits.rows.length === 0) return [];
  const { rows } = await sql<StaleRanking>`
    with now as (
      select m.collection_id, sum(t.live)::int as tokens, ${fingerprint} as fingerprint
      from traits.contract t join collections.member m using (contract_id)
      group by m.collection_id
    )
    select coalesce(now.collection_id, r.collection_id) as "collectionId", coalesce(now.tokens, 0) as tokens
    from now full join rarity.collection r using (collection_id)
    where now.fingerprint is distinct from r.fingerprint
    order by tokens, "collectionId"`.execute(db);
  return rows;
}

/** Whether a collection's ranking is about to be made anew, though nothing else changes. */
export function isRankingOld(collectionId: number): RawBuilder<boolean> {
  const id = anyValue(collectionId, "int");
  return sql<boolean>`(
    select ${fingerprint} from traits.contract t join collections.member m using (contract_id)
    where m.collection_id = ${id}
  ) is distinct from (
    select fingerprint from rarity.collection where collection_id = ${id}
  )`;
}

export async function isRankingStale(db: Database, collectionId: number): Promise<boolean> {
  const { rows } = await sql<{ isStale: boolean }>`
    select ${isRankingOld(collectionId)} as "isStale"`.execute(db);
  return rows[0]?.isStale ?? true;
}
