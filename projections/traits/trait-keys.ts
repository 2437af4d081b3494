import { type RawBuilder, sql } from "kysely";

/** Longer types and values are shown with the token but are not traits. */
const [maxTypeLength, maxValueLength] = [sql.raw("200"), sql.raw("1000")];
const maxTraits = sql.raw("200");

/** SQL: the type without case and spacing, which all its spellings share. */
export function traitTypeKey(type: RawBuilder<unknown>): RawBuilder<string> {
  return sql<string>`lower(regexp_replace(${type}, '\\s+', '', 'g'))`;
}

/** SQL: key of a type in any spelling together with a value as text. */
export function matchKey(type: RawBuilder<unknown>, value: RawBuilder<unknown>) {
  return hash(sql`jsonb_build_array(${traitTypeKey(type)}, ${value})`);
}

function hash(json: RawBuilder<unknown>): RawBuilder<string> {
  return sql<string>`encode(substr(sha256(convert_to((${json})::text, 'UTF8')), 1, 16), 'hex')::uuid`;
}

/**
 * SQL: the traits among `attributes` (jsonb) of a token of contract `k` (log.contract): `ord`, both keys, type and value.
 * Of repeated traits the first is used, whatever the spelling of its type.
 */
export function traitsOf(attributes: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    select distinct on (match_key) ord, type, ${traitTypeKey(sql`type`)} as type_key, value #>> '{}' as value,
           jsonb_typeof(value) = 'number' as is_number,
           value #>> '{}' ~ '^\\s*[-+]?\\d+(\\.\\d+)?([eE][-+]?\\d+)?\\s*$' as is_numeric,
           ${hash(sql`jsonb_build_array(k.chain_id, encode(k.address, 'hex'), type, value)`)} as trait_key, match_key
    from (
      select ord, item ->> 'trait_type' as type, item -> 'value' as value,
             ${matchKey(sql`item ->> 'trait_type'`, sql`item ->> 'value'`)} as match_key
      from jsonb_array_elements(
        case jsonb_typeof(${attributes}) when 'array' then ${attributes} else '[]' end
      ) with ordinality listed (item, ord)
      where ord <= ${maxTraits} and jsonb_typeof(item) = 'object'
        and jsonb_typeof(item -> 'trait_type') = 'string' and item ->> 'trait_type' ~ '\\S'
        and length(item ->> 'trait_type') <= ${maxTypeLength}
        and jsonb_typeof(item -> 'value') in ('string', 'number', 'boolean')
        and length(item ->> 'value') <= ${maxValueLength}
    ) attribute
    order by match_key, ord`;
}
