import { sql } from "kysely";
import type { Database } from "../../database.ts";
import {
  type Book,
  type BookFilter,
  inOrder,
  type OrderSlice,
  type OrderSort,
  pageOf,
  totalOf,
} from "../orders/read-page.ts";
import { naming } from "../orders/read-shown.ts";
import { type BidRow, bidColumns } from "./read.ts";

export type BidsFilter = BookFilter & {
  /** null: both. */
  kind: BidRow["kind"] | null;
};

/** Bids in order, and how many the filter matches, of one moment. */
export async function readBidPage(
  db: Database,
  filter: BidsFilter,
  sort: OrderSort,
  slice: OrderSlice,
  now: Date,
): Promise<{ total: bigint; rows: BidRow[] }> {
  const ofKind = filter.kind === null ? sql`true` : sql`kind = ${filter.kind}`;
  const book: Book = {
    schema: "bids",
    filter,
    condition: ofKind,
    counted: ofKind,
    apart: null,
  };
  const { rows } = await sql<BidRow & { total: bigint; orderHash: string | null }>`
    with counted as materialized (select ${totalOf(book, now)} as total),
    page as (${pageOf(book, sort, slice, now)})
    select counted.total, ${bidColumns(now)}
    from counted left join page o on true ${naming}
    ${inOrder(sort)}`.execute(db);
  return { total: rows[0]?.total ?? 0n, rows: rows.filter(({ orderHash }) => orderHash !== null) };
}
