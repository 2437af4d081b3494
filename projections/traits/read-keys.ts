import { sql } from "kysely";
import type { Database } from "../database.ts";
import { matchKey } from "./normalize.ts";

/** For each trait asked for, its keys in the contracts: one for each contract and spelling, none where nobody has it. */
export async function readTraitKeys(
  db: Database,
  contractIds: readonly number[],
  traits: readonly (readonly [type: string, value: string])[],
): Promise<string[][]> {
  if (traits.length === 0) return [];
  const types = traits.map(([type]) => type);
  const values = traits.map(([, value]) => value);
  const { rows } = await sql<{ keys: string[] }>`
    select array(
      select v.trait_key::text from traits.value v
      where v.contract_id = any (${contractIds}::int[]) and v.match_key = ${matchKey(sql`asked.type`, sql`asked.value`)}
    ) as keys
    from unnest(${types}::text[], ${values}::text[]) with ordinality asked (type, value, ord)
    order by ord`.execute(db);
  return rows.map(({ keys }) => keys);
}
