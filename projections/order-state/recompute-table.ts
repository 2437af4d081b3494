import { type RawBuilder, sql } from "kysely";
import type { Session } from "../log/database.ts";
import type { Relation } from "../engine/projection.ts";
import { openScratchTable } from "../engine/scratch.ts";

/** Rows from which collecting statistics of the table is cheaper than the plans without them. */
const ANALYZE_ROWS = 500;

/** A table of the session that holds the orders whose state is recomputed. */
export type RecomputeTable = {
  readonly orders: Relation;
  open(session: Session): Promise<void>;
  /** Replaces the rows, for one of the targets that share a transaction. Returns how many there are. */
  replace(session: Session, rows: RecomputeRows): Promise<number>;
};

type RecomputeRows = {
  /** Named queries that `insert` reads. */
  queries: readonly RawBuilder<unknown>[];
  /** What follows `insert into` the table: its columns and a query. */
  insert: RawBuilder<unknown>;
  /** All orders of the log, not those of a window. */
  isBulk: boolean;
};

/** `joined`: the columns that statements join by; statistics of all columns of a listing take three times as long. */
export function recomputeTable(
  name: string,
  columns: string,
  joined?: readonly string[],
): RecomputeTable {
  const orders = sql`pg_temp.${sql.ref(name)}`;
  const analyzed = joined === undefined ? sql`` : sql.raw(`(${joined.join(", ")})`);
  return {
    orders,
    open: (session) => openScratchTable(session, name, columns),
    async replace(session, { queries, insert, isBulk }) {
      const emptied = sql`emptied as (delete from ${orders})`;
      const { numAffectedRows } = await sql`
        with ${sql.join([emptied, ...queries])} insert into ${orders} ${insert}`.execute(session);
      const rows = Number(numAffectedRows ?? 0n);
      if (isBulk || rows > ANALYZE_ROWS) await sql`analyze ${orders} ${analyzed}`.execute(session);
      return rows;
    },
  };
}
