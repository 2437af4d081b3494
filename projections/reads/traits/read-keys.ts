import { sql } from "kysely";
import type { Database } from "../../database.ts";
import { anyValue } from "../../sql/any-value.ts";
import { matchKey } from "../../traits/normalize.ts";

/**
 * For each trait asked for, its keys in the contracts: one for each contract and spelling, none where nobody has it. The
 * rarest trait comes first: it says of most tokens that they need no second look.
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
    from unnest(${anyValue(types, "text[]")}, ${anyValue(values, "text[]")}) asked (type, value)
    cross join lateral (
      select coalesce(array_agg(v.trait_key::text), '{}') as keys, coalesce(sum(v.tokens), 0) as tokens
      from traits.value v
      where v.contract_id = any (${anyValue(contractIds, "int[]")}::int[]) and v.match_key = ${matchKey(sql`asked.type`, sql`asked.value`)}
    ) own
    order by own.tokens`.execute(db);
  return rows.map(({ keys }) => keys);
}
