import { sql } from "kysely";
import type { Session } from "../database.ts";

/** Types of values that may be long, and that PostgreSQL would then keep beside the row. */
const varying = /\b(bytea|text|jsonb|numeric(\(\d+,\s*\d+\))?|uuid\[\])(?=[,\s]|$)/g;

/**
 * Makes a table of the session, unless there is one, that every transaction leaves empty. Its values lie in its rows, which
 * hold 8 kB at most: a table with room for longer ones beside it costs each commit a millisecond, used or not.
 */
export async function openScratch(session: Session, name: string, columns: string): Promise<void> {
  await openScratches(session, { [name]: columns });
}

/** The same of several, by their names. */
export async function openScratches(
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
