import { sql } from "kysely";
import type { Database } from "../database.ts";

/**
 * A word for what the log and all projections hold. It changes with every transaction that changes what they hold, and
 * none comes again: between two readings of the same word nothing has changed. It is the transaction that last wrote
 * each checkpoint and the log's head, since a rebuild may exchange tables without moving a position; and the positions,
 * since a crash may take back a tick and give its transaction's number away again.
 */
export async function readStanding(db: Database): Promise<string> {
  const { rows } = await sql<{ standing: string }>`
    select concat_ws(' ', h.xmin, (
      select string_agg(concat_ws(' ', c.projection, c.position, c.xmin), ' ' order by c.projection) from engine.checkpoint c
    )) as standing
    from log.head h`.execute(db);
  const [row] = rows;
  if (row === undefined) throw new Error("log.head has no row: the log's migration did not run");
  return row.standing;
}
