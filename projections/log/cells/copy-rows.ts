import { type RawBuilder, sql } from "kysely";
import type { Session } from "../../database.ts";

/** The rows as text that `storeRows` takes: nothing is lost on its way, and nothing of it is parsed here. */
export async function fetchRows(
  session: Session,
  rows: RawBuilder<unknown>,
): Promise<{ text: string; count: number }> {
  const found = await sql<{ text: string | null; count: number }>`
    select json_agg(t)::text as text, count(*)::int as count from (${rows}) t`.execute(session);
  const [row] = found.rows;
  return { text: row?.text ?? "[]", count: row?.count ?? 0 };
}

/** Stores rows of a table of the same name, with the ids that they have. What is there already is left as it is. */
export async function storeRows(session: Session, table: string, text: string): Promise<void> {
  if (text === "[]") return;
  const name = sql.table(table);
  await sql`
    insert into ${name} overriding system value
    select * from json_populate_recordset(null::${name}, ${text}::json)
    on conflict do nothing`.execute(session);
}
