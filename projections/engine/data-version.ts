import { type RawBuilder, sql } from "kysely";
import type { Session } from "../log/database.ts";
import { schemaOf } from "../log/versions.ts";

/** What the tables of all projections and the log are as of one snapshot. */
export type DataVersion = {
  /** Changes with every transaction that changes any of them, and never repeats: equal versions mean unchanged data. */
  readonly version: string;
  /** The position of the log that all serving projections have reached; 0 before they exist. */
  readonly position: bigint;
};

/**
 * Made of the transactions that last wrote each checkpoint and the log's head, since a swap changes tables without
 * moving a position, and of the positions, since a crash may undo a tick and its transaction's number is then given to
 * another. A standby has the same numbers. `projections`: their names.
 */
export function selectDataVersion(projections: readonly string[]): RawBuilder<DataVersion> {
  const serving = sql.join(projections.map((name) => sql.lit(schemaOf(name))));
  return sql<DataVersion>`
    select concat_ws(' ', h.xmin, c.written) as version, c.position
    from log.head h, (
      select string_agg(concat_ws(' ', c.projection, c.position, c.xmin), ' ' order by c.projection) as written,
             coalesce(min(c.position) filter (where c.projection = any (array[${serving}]::text[])), 0) as position
      from engine.checkpoint c
    ) c`;
}

export async function readDataVersion(
  session: Session,
  projections: readonly string[],
): Promise<DataVersion> {
  const { rows } = await selectDataVersion(projections).execute(session);
  return onlyVersion(rows);
}

export function onlyVersion(rows: readonly DataVersion[]): DataVersion {
  const [row] = rows;
  if (row === undefined) throw new Error("log.head has no row: the log's migration did not run");
  return row;
}
