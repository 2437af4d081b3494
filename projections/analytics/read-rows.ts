import { type RawBuilder, sql } from "kysely";
import type { Database, Session } from "../log/database.ts";
import { schemaOf } from "../log/versions.ts";
import { analyticsSchema } from "./bind-views.ts";
import { copiedProjections } from "./data-sets.ts";

/** Views that can be exported: their time column and a total order. */
export const datasets = {
  sales: { time: "block_timestamp", order: ["chain_id", "block_number", "log_index", "sale_id"] },
  transfers: {
    time: "block_timestamp",
    order: ["chain_id", "block_number", "log_index", "sub_index"],
  },
  listings: { time: "created_at", order: ["created_at", "chain_id", "order_hash"] },
  bids: { time: "created_at", order: ["created_at", "chain_id", "order_hash"] },
  floors: { time: "since", order: ["since", "chain_id", "contract"] },
} as const satisfies Record<string, { time: string; order: readonly string[] }>;
export type Dataset = keyof typeof datasets;

export type RowsFilter = {
  dataset: Dataset;
  /** Null: every chain. */
  chain: number | null;
  /** From, inclusive, up to, exclusive. */
  since: Date | null;
  until: Date | null;
};

/** A row's values as text in the order of its columns; times are ISO 8601 in UTC. */
export type TextRow = readonly (string | null)[];

/** `whole`: a whole number of any size; `native`: ETH or APE, to a wei; `fees`: JSON, a list of a sale's fees. */
export type ColumnType =
  | "boolean"
  | "integer"
  | "bigint"
  | "double"
  | "time"
  | "text"
  | "whole"
  | "native"
  | "fees";
export type ExportColumn = { readonly name: string; readonly type: ColumnType };

const typeNames: Readonly<Record<string, ColumnType>> = {
  boolean: "boolean",
  smallint: "integer",
  integer: "integer",
  bigint: "bigint",
  "double precision": "double",
  "timestamp with time zone": "time",
};

function columnType(name: string, type: string): ColumnType {
  if (type === "numeric") return name.endsWith("_native") ? "native" : "whole";
  return type === "jsonb" && name === "fees" ? "fees" : (typeNames[type] ?? "text");
}

/** In the order of the view. */
export async function readColumns(session: Session, dataset: Dataset): Promise<ExportColumn[]> {
  const { rows } = await sql<{ name: string; type: string }>`
    select attname as name, format_type(atttypid, null) as type from pg_attribute
    where attrelid = to_regclass(${`${analyticsSchema}.${dataset}`}) and attnum > 0 and not attisdropped
    order by attnum`.execute(session);
  return rows.map(({ name, type }) => ({ name, type: columnType(name, type) }));
}

/** Rows in memory at a time. */
const PAGE_ROWS = 2_000;

/** Passes all rows of one snapshot to `onRows`, a page at a time, in the dataset's order. Returns their number. */
export async function readRows(
  db: Database,
  filter: RowsFilter,
  columns: readonly ExportColumn[],
  onRows: (rows: readonly TextRow[]) => Promise<void>,
): Promise<number> {
  return await readInSnapshot(db, (session) => readRowsIn(session, filter, columns, onRows));
}

/** Several reads of one snapshot. */
export async function readInSnapshot<Result>(
  db: Database,
  work: (session: Session) => Promise<Result>,
): Promise<Result> {
  return await db
    .transaction()
    .setIsolationLevel("repeatable read")
    .setAccessMode("read only")
    .execute(work);
}

/** The same as `readRows`, in a transaction. */
export async function readRowsIn(
  session: Session,
  filter: RowsFilter,
  columns: readonly ExportColumn[],
  onRows: (rows: readonly TextRow[]) => Promise<void>,
): Promise<number> {
  // The plan should be fast for all rows, not for the first ones.
  await sql`set local cursor_tuple_fraction = 1`.execute(session);
  await sql`declare exported no scroll cursor for ${rowsOf(filter, columns)}`.execute(session);
  for (let count = 0; ; ) {
    const { rows } = await sql<{ cells: TextRow }>`
      fetch ${sql.lit(PAGE_ROWS)} from exported`.execute(session);
    if (rows.length === 0) {
      await sql`close exported`.execute(session);
      return count;
    }
    await onRows(rows.map(({ cells }) => cells));
    count += rows.length;
  }
}

/** A cursor's statement takes no parameters. */
function rowsOf(filter: RowsFilter, columns: readonly ExportColumn[]): RawBuilder<unknown> {
  const { time, order } = datasets[filter.dataset];
  const cells = columns.map(({ name, type }) =>
    type === "time"
      ? sql`to_char(o.${sql.id(name)} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
      : sql`o.${sql.id(name)}::text`,
  );
  const bound = (date: Date) => sql.lit(date.toISOString());
  return sql`
    select array[${sql.join(cells)}] as cells from ${sql.table(`${analyticsSchema}.${filter.dataset}`)} o
    where true
      ${filter.chain === null ? sql`` : sql`and o.chain_id = ${sql.lit(filter.chain)}`}
      ${filter.since === null ? sql`` : sql`and o.${sql.id(time)} >= ${bound(filter.since)}`}
      ${filter.until === null ? sql`` : sql`and o.${sql.id(time)} < ${bound(filter.until)}`}
    order by ${sql.join(order.map((name) => sql`o.${sql.id(name)}`))}`;
}

/** The position that all projections which the views read have reached. */
export async function readPosition(session: Session): Promise<bigint> {
  const { rows } = await sql<{ position: bigint }>`
    select coalesce(min(position), 0) as position from engine.checkpoint
    where projection = any (${copiedProjections.map(schemaOf)}::text[])`.execute(session);
  return rows[0]?.position ?? 0n;
}
