import { sql } from "kysely";
import type { Database } from "../database.ts";

/**
 * Version of the data in the log and all projections: it changes with every transaction that changes them and never
 * repeats, so equal versions mean unchanged data. Made of the transactions that last wrote each checkpoint and the log's
 * head, since a swap changes tables without moving a position, and of the positions, since a crash may undo a tick and
 * its transaction's number is then given to another.
 */
export async function readDataVersion(db: Database): Promise<string> {
  const { rows } = await sql<{ version: string }>`
    select concat_ws(' ', h.xmin, (
      select string_agg(concat_ws(' ', c.projection, c.position, c.xmin), ' ' order by c.projection) from engine.checkpoint c
    )) as version
    from log.head h`.execute(db);
  const [row] = rows;
  if (row === undefined) throw new Error("log.head has no row: the log's migration did not run");
  return row.version;
}
