import { type RawBuilder, sql } from "kysely";
import type { Database } from "../log/database.ts";
import { anyValue } from "../log/sql-values.ts";
import { schemaOf } from "../log/versions.ts";

/** A collection whose ranking was computed from other traits than its tokens have current. */
export type OutdatedRanking = { collectionId: number; tokens: number };

/** SQL: fingerprint of the live tokens' traits, over a collection's rows `t` of traits.contract. */
export const traitsFingerprint = sql`
  string_agg(t.contract_id || ':' || t.fingerprint, ' ' order by t.contract_id) filter (where t.live > 0)`;

/** Smallest first, so that large collections do not delay the others. Empty before `traits` has tables. */
export async function readOutdatedRankings(db: Database): Promise<OutdatedRanking[]> {
  const traits = await sql`
    select from engine.checkpoint where projection = ${schemaOf("traits")}`.execute(db);
  if (traits.rows.length === 0) return [];
  const { rows } = await sql<OutdatedRanking>`
    with current as (
      select m.collection_id, sum(t.live)::int as tokens, ${traitsFingerprint} as fingerprint
      from traits.contract t join collections.contract m using (contract_id)
      group by m.collection_id
    )
    select coalesce(current.collection_id, r.collection_id) as "collectionId", coalesce(current.tokens, 0) as tokens
    from current full join rarity.collection r using (collection_id)
    where current.fingerprint is distinct from r.fingerprint
    order by tokens, "collectionId"`.execute(db);
  return rows;
}

/** SQL: whether a collection's ranking will be recomputed. */
export function rankingIsOutdated(collectionId: number): RawBuilder<boolean> {
  const id = anyValue(collectionId, "int");
  return sql<boolean>`(
    select ${traitsFingerprint} from traits.contract t join collections.contract m using (contract_id)
    where m.collection_id = ${id}
  ) is distinct from (
    select fingerprint from rarity.collection where collection_id = ${id}
  )`;
}

export async function readRankingIsOutdated(db: Database, collectionId: number): Promise<boolean> {
  const { rows } = await sql<{ isStale: boolean }>`
    select ${rankingIsOutdated(collectionId)} as "isStale"`.execute(db);
  return rows[0]?.isStale ?? true;
}
