import { type RawBuilder, sql } from "kysely";
import { nameLook } from "../domain/name-look.ts";
import type { Session } from "../log/database.ts";

/**
 * Replaces the words of `collections`: those of its name, its slug unless that is its address, and its symbol. Most new
 * contracts have none of them yet; only the registry gives another slug. Beside the name stands what it looks like.
 */
export async function deriveWords(
  session: Session,
  schema: string,
  collections: readonly number[],
): Promise<void> {
  const word = sql.table(`${schema}.word`);
  const collection = sql.table(`${schema}.collection`);
  await sql`delete from ${word} where collection_id = any (${collections}::int[])`.execute(session);
  const looks = await readLooks(session, schema, collections);
  await sql`
    insert into ${word} (collection_id, chain_id, verified, word, is_name, look)
    select c.collection_id, c.chain_id, c.verified, said.word, bool_or(said.is_name),
           max(seen.look) filter (where said.is_name)
    from ${collection} c
    left join unnest(${looks.ids}::int[], ${looks.looks}::text[]) seen (collection_id, look) using (collection_id)
    cross join lateral (
      select ${searchWords(sql`c.name`)} as of_name, ${searchWords(sql`c.symbol`)} as of_symbol,
             case when c.slug !~ '^0x[0-9a-f]{40}$' then ${searchWords(sql`c.slug`)} end as of_slug
    ) words
    cross join lateral (
      select left(array_to_string(words.of_name, ''), ${sql.lit(maxLength)}) as word, true as is_name
      union all select left(array_to_string(words.of_slug, ''), ${sql.lit(maxLength)}), false
      union all
      select left(one, ${sql.lit(maxLength)}), false
      from unnest(words.of_name[1:${sql.lit(maxWords)}] || words.of_slug[1:${sql.lit(maxWords)}] || words.of_symbol[1:2]) one
    ) said
    where c.collection_id = any (${collections}::int[]) and said.word <> ''
      and (c.name is not null or c.symbol is not null or c.registered)
    group by c.collection_id, c.chain_id, c.verified, said.word`.execute(session);
}

async function readLooks(
  session: Session,
  schema: string,
  collections: readonly number[],
): Promise<{ ids: number[]; looks: (string | null)[] }> {
  const { rows } = await sql<{ id: number; name: string }>`
    select collection_id as id, name from ${sql.table(`${schema}.collection`)}
    where collection_id = any (${collections}::int[]) and name is not null`.execute(session);
  return { ids: rows.map(({ id }) => id), looks: rows.map(({ name }) => nameLook(name)) };
}

/** A name may have any number of words of any length. */
const maxWords = 12;
const maxLength = 60;

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
