import { type RawBuilder, sql } from "kysely";
import type { Database } from "#projections/log/database.ts";
import { anyValue } from "#projections/log/sql-values.ts";
import { matchKey } from "#projections/traits/trait-keys.ts";
import type { RequestedTrait, TraitKey } from "./token-bitmaps.ts";

type KeysOfTrait = { contractIds: number[]; keys: string[] };

/**
 * The keys of each trait in the contracts: one per contract and spelling, none where no token has it. The rarest trait
 * comes first: it excludes most tokens.
 */
export async function readTraitKeys(
  db: Database,
  contractIds: readonly number[],
  traits: readonly RequestedTrait[],
): Promise<TraitKey[][]> {
  if (traits.length === 0) return [];
  const { rows } = await sql<KeysOfTrait>`
    select own."contractIds", own.keys
    from ${requestedTraits(traits)}
    cross join lateral (
      select coalesce(array_agg(v.contract_id), '{}') as "contractIds",
             coalesce(array_agg(v.trait_key::text), '{}') as keys, coalesce(sum(v.tokens), 0) as tokens
      from traits.trait v
      where v.contract_id = any (${anyValue(contractIds, "int[]")}::int[]) and ${isRequested}
    ) own
    order by own.tokens`.execute(db);
  return rows.map(keysOf);
}

/** The same for all contracts of the chain that have each of the traits; null if they are more than `maxContracts`. */
export async function readTraitKeysOfChain(
  db: Database,
  chainId: number,
  traits: readonly RequestedTrait[],
  maxContracts: number,
): Promise<TraitKey[][] | null> {
  const { rows } = await sql<KeysOfTrait>`
    with found as materialized (
      select v.contract_id, v.trait_key, v.tokens, requested.ord
      from ${requestedTraits(traits)}
      cross join lateral (
        select v.* from traits.trait v where ${isRequested} offset 0
      ) v
      join log.contract k using (contract_id)
      where k.chain_id = ${chainId}
    ), complete as materialized (
      select contract_id from found group by contract_id
      having count(distinct ord) = ${traits.length} limit ${maxContracts + 1}
    )
    select array_agg(found.contract_id) as "contractIds", array_agg(found.trait_key::text) as keys
    from found join complete using (contract_id)
    group by found.ord order by sum(found.tokens)`.execute(db);
  if (new Set(rows[0]?.contractIds).size > maxContracts) return null;
  return rows.length === 0 ? traits.map(() => []) : rows.map(keysOf);
}

/** SQL: whether row `v` of `traits.trait` is the trait `requested`. */
const isRequested = sql`v.match_key = ${matchKey(sql`requested.type`, sql`requested.value`)}`;

function requestedTraits(traits: readonly RequestedTrait[]): RawBuilder<unknown> {
  const [types, values] = [traits.map(([type]) => type), traits.map(([, value]) => value)];
  return sql`
    unnest(${anyValue(types, "text[]")}, ${anyValue(values, "text[]")}) with ordinality requested (type, value, ord)`;
}

function keysOf({ contractIds, keys }: KeysOfTrait): TraitKey[] {
  return keys.map((key, index) => ({ contractId: contractIds[index] ?? 0, key }));
}
