import { sql } from "kysely";
import type { Session } from "../log/database.ts";

/** Types whose long values PostgreSQL would store outside the row (TOAST). */
const varying = /\b(bytea|text|jsonb|numeric(\(\d+,\s*\d+\))?|uuid\[\])(?=[,\s]|$)/g;

/**
 * Creates a temporary table, unless it exists, that is emptied at each commit. Its values are stored in the row, 8 kB at
 * most: a TOAST table costs each commit a millisecond, used or not.
 */
export async function openScratchTable(
  session: Session,
  name: string,
  columns: string,
): Promise<void> {
  await openScratchTables(session, { [name]: columns });
}

/** The same for several, by their names. */
export async function openScratchTables(
  session: Session,
  columnsOf: Readonly<Record<string, string>>,
): Promise<void> {
  const plain = Object.values(columnsOf).map((columns) =>
    columns.replaceAll(varying, "$1 storage plain"),
  );
  await sql`
    select engine.open_scratch(name, columns)
    from unnest(${Object.keys(columnsOf)}::text[], ${plain}::text[]) scratch (name, columns)`.execute(
    session,
  );
}
