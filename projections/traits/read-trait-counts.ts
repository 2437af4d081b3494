import { sql } from "kysely";
import type { Database } from "../log/database.ts";

/** A value of a trait, and how many token ids that are not burned have it. */
export type TraitCount = { type: string; value: string; tokens: bigint };

/** Traits of contracts, those of most tokens first. */
export async function readTraitCounts(
  db: Database,
  contractIds: readonly number[],
  limit: number,
): Promise<TraitCount[]> {
  const { rows } = await sql<TraitCount>`
    select v.type, v.value, sum(v.live)::bigint as tokens
    from traits.trait v
    where v.contract_id = any (${contractIds}::int[]) and v.live > 0
    group by v.type, v.value order by 3 desc, 1, 2 limit ${limit}`.execute(db);
  return rows;
}

/** The traits of one token in their order, with all tokens of its contract that have them in any spelling. */
export async function readTraitCountsOfToken(
  db: Database,
  contractIds: readonly number[],
  tokenId: bigint,
): Promise<TraitCount[]> {
  const { rows } = await sql<TraitCount>`
    select v.type, v.value, (
             select sum(o.live)::bigint from traits.trait o
             where o.contract_id = v.contract_id and o.match_key = v.match_key
           ) as tokens
    from traits.token t cross join unnest(t.trait_keys) with ordinality u (trait_key, ord)
    join traits.trait v on v.contract_id = t.contract_id and v.trait_key = u.trait_key
    where t.contract_id = any (${contractIds}::int[]) and t.token_id = ${tokenId}
    order by t.contract_id, u.ord`.execute(db);
  return rows;
}
