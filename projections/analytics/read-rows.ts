import { type RawBuilder, sql } from "kysely";
import type { Database, Session } from "../database.ts";
import { analyticsSchema, views } from "./bind-views.ts";

/** What can be read row by row: the column that places a row in time, and an order that is total. */
export const datasets = {
  sales: { time: "block_timestamp", order: ["chain_id", "block_number", "log_index", "sale_id"] },
  transfers: {
    time: "block_timestamp",
    order: ["chain_id", "block_number", "log_index", "sub_index"],
  },
  listings: { time: "created_at", order: ["created_at", "chain_id", "order_hash"] },
} as const satisfies Record<string, { time: string; order: readonly string[] }>;
export type Dataset = keyof typeof datasets;

export type RowsFilter = {
  dataset: Dataset;
  /** Null: every chain. */
  chainId: number | null;
  /** From, inclusive, up to, exclusive. */
  since: Date | null;
  until: Date | null;
};

/** A row's values as text in the order of `columnsOf`; times are ISO 8601 in UTC. */
export type TextRow = readonly (string | null)[];

export function columnsOf(dataset: Dataset): string[] {
  return views.find(({ name }) => name === dataset)?.columns.map(([name]) => name) ?? [];
}

/** Rows held at a time. */
const PAGE_ROWS = 2_000;

/** Gives all rows of one moment to `onRows`, a page at a time, in an order of their own. Returns how many there were. */
export async function readRows(
  db: Database,
  filter: RowsFilter,
  onRows: (rows: readonly TextRow[]) => Promise<void>,
): Promise<number> {
  return await db
    .transaction()
    .setIsolationLevel("repeatable read")
    .setAccessMode("read only")
    .execute(async (session) => {
      // All rows are wanted, not the first ones soon.
      await sql`set local cursor_tuple_fraction = 1`.execute(session);
      await sql`declare exported no scroll cursor for ${await rowsOf(session, filter)}`.execute(
        session,
      );
      for (let count = 0; ; ) {
        const { rows } = await sql<{ cells: TextRow }>`
          fetch ${sql.lit(PAGE_ROWS)} from exported`.execute(session);
        if (rows.length === 0) return count;
        await onRows(rows.map(({ cells }) => cells));
        count += rows.length;
      }
    });
}

/** A cursor's statement takes no parameters. */
async function rowsOf(session: Session, filter: RowsFilter): Promise<RawBuilder<unknown>> {
  const { time, order } = datasets[filter.dataset];
  const times = await readTimeColumns(session, filter.dataset);
  const cells = columnsOf(filter.dataset).map((name) =>
    times.has(name)
      ? sql`to_char(o.${sql.id(name)} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
      : sql`o.${sql.id(name)}::text`,
  );
  const bound = (date: Date) => sql.lit(date.toISOString());
  return sql`
    select array[${sql.join(cells)}] as cells from ${sql.table(`${analyticsSchema}.${filter.dataset}`)} o
    where true
      ${filter.chainId === null ? sql`` : sql`and o.chain_id = ${sql.lit(filter.chainId)}`}
      ${filter.since === null ? sql`` : sql`and o.${sql.id(time)} >= ${bound(filter.since)}`}
      ${filter.until === null ? sql`` : sql`and o.${sql.id(time)} < ${bound(filter.until)}`}
    order by ${sql.join(order.map((name) => sql`o.${sql.id(name)}`))}`;
}

async function readTimeColumns(session: Session, dataset: Dataset): Promise<Set<string>> {
  const { rows } = await sql<{ name: string }>`
    select attname as name from pg_attribute
    where attrelid = to_regclass(${`${analyticsSchema}.${dataset}`}) and atttypid = 'timestamptz'::regtype`.execute(
    session,
  );
  return new Set(rows.map(({ name }) => name));
}
