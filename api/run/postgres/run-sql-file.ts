import { readFile } from "node:fs/promises";
import { sql } from "kysely";
import type { Session } from "#projections/log/database.ts";

/** Runs the statements of a file of the project. */
export async function runSqlFile(session: Session, file: string): Promise<void> {
  const path = new URL(`../../../${file}`, import.meta.url);
  await sql.raw(await readFile(path, "utf8")).execute(session);
}
