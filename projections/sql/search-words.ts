import { type RawBuilder, sql } from "kysely";

/** A text's letters and digits in lower case and compatible form, as an array of words; of a long text the beginning. */
export function searchWords(text: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`array_remove(
    regexp_split_to_array(lower(normalize(left(${text}, 200), nfkc)), '[[:space:][:punct:]]+'), '')`;
}

/** SQL: whether `column`, of collation "C", begins with a prefix; worded as a range of its index. */
export function beginsWith(
  column: RawBuilder<unknown>,
  prefix: RawBuilder<unknown>,
): RawBuilder<boolean> {
  return sql`(${column} >= ${prefix} and ${column} < ${prefix} || chr(1114111))`;
}
