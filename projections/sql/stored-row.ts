import { type RawBuilder, sql } from "kysely";

/**
 * A row as it is stored, for people: numbers as exact decimal text, bytes as `0x` and hex. As JSON numbers, ids and
 * amounts beyond 2^53 would be rounded when they are parsed.
 */
export const storedRow = (row: RawBuilder<unknown>): RawBuilder<Record<string, unknown>> => sql`
  (select jsonb_object_agg(key, case
     when jsonb_typeof(value) = 'number' then to_jsonb(value #>> '{}')
     when value #>> '{}' ~ '^\\\\x([0-9a-f]{2})*$' then to_jsonb('0x' || substr(value #>> '{}', 3))
     else value end)
   from jsonb_each(to_jsonb(${row})))`;
