import { sql } from "kysely";
import type { Database } from "../../database.ts";
import { anyValue } from "../../sql/any-value.ts";
import { matchKey } from "../../traits/trait-keys.ts";

/**
 * The keys of each trait in the contracts: one per contract and spelling, none where no token has it. The rarest trait
 * comes first: it excludes most tokens.
 */
export async function readTraitKeys(
  db: Database,
  contractIds: readonly number[],
  traits: readonly (readonly [type: string, value: string])[],
): Promise<string[][]> {
  if (traits.length === 0) return [];
  const types = traits.map(([type]) => type);
  const values = traits.map(([, value]) => value);
  const { rows } = await sql<{ keys: string[] }>`
    select own.keys
    from unnest(${anyValue(types, "text[]")}, ${anyValue(values, "text[]")}) requested (type, value)
    cross join lateral (
      select coalesce(array_agg(v.trait_key::text), '{}') as keys, coalesce(sum(v.tokens), 0) as tokens
      from traits.trait v
      where v.contract_id = any (${anyValue(contractIds, "int[]")}::int[]) and v.match_key = ${matchKey(sql`requested.type`, sql`requested.value`)}
    ) own
    order by own.tokens`.execute(db);
  return rows.map(({ keys }) => keys);
}
