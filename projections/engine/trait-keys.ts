import { type RawBuilder, sql } from "kysely";

/** SQL: the type without case and spacing, which all its spellings share. */
export function traitTypeKey(type: RawBuilder<unknown>): RawBuilder<string> {
  return sql<string>`lower(regexp_replace(${type}, '\\s+', '', 'g'))`;
}

/** SQL: key of a type in any spelling together with a value as text. */
export function matchKey(type: RawBuilder<unknown>, value: RawBuilder<unknown>) {
  return traitHash(sql`jsonb_build_array(${traitTypeKey(type)}, ${value})`);
}

export function traitHash(json: RawBuilder<unknown>): RawBuilder<string> {
  return sql<string>`encode(substr(sha256(convert_to((${json})::text, 'UTF8')), 1, 16), 'hex')::uuid`;
}

/** Values that are compared as numbers: those of any trait, of a length that a number has. */
const asNumber = sql`
  case when v.is_numeric and v.value ~ '^\\s*[-+]?\\d{1,30}(\\.\\d{1,30})?\\s*$' then v.value::numeric end`;

const bound = (name: "min" | "max") => sql`(one.trait ->> ${sql.lit(name)})::numeric`;

/** SQL: keys in a contract of the trait `one` (jsonb): of its value, or of the numbers within its bounds. */
const keysOfTrait = (contractId: RawBuilder<unknown>) => sql`
  select v.trait_key from traits.trait v
  where v.contract_id = ${contractId} and one.trait ? 'value'
    and v.match_key = ${matchKey(sql`one.trait ->> 'type'`, sql`one.trait ->> 'value'`)}
  union all
  select v.trait_key from traits.trait v
  where v.contract_id = ${contractId} and not one.trait ? 'value' and v.live > 0
    and v.type_key = ${traitTypeKey(sql`one.trait ->> 'type'`)}
    and ${asNumber} >= coalesce(${bound("min")}, '-infinity') and ${asNumber} <= coalesce(${bound("max")}, 'infinity')`;

/** SQL: rows `(contract_id, chunk, bits)` of the token ids of a contract with all the traits, a jsonb array. */
export function chunksOfTraits(
  contractId: RawBuilder<unknown>,
  traits: RawBuilder<unknown>,
): RawBuilder<unknown> {
  return sql`
    select ${contractId} as contract_id, chunk, bit_and(bits) as bits
    from (
      select one.ord, m.chunk, bit_or(m.bits) as bits
      from jsonb_array_elements(${traits}) with ordinality one (trait, ord)
      cross join lateral (${keysOfTrait(contractId)}) asked_key
      join traits.token_bitmap m on m.contract_id = ${contractId} and m.trait_key = asked_key.trait_key
      group by 1, 2
    ) trait
    group by chunk having count(*) = jsonb_array_length(${traits})`;
}
