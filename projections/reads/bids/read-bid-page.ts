import { sql } from "kysely";
import type { Database } from "../../database.ts";
import { allOrderParts, type OrderParts } from "../orders/order-columns.ts";
import {
  type OrderFilter,
  type OrderQuery,
  type OrderSlice,
  type OrderSort,
  readOrderPage,
} from "../orders/order-page.ts";
import { type BidRow, bidColumns } from "./read-bid.ts";

export type BidFilter = OrderFilter & {
  /** null: both. */
  kind: BidRow["kind"] | null;
};

/** A page of bids, and how many match the filter. */
export async function readBidPage(
  db: Database,
  filter: BidFilter,
  sort: OrderSort,
  slice: OrderSlice,
  now: Date,
  parts: OrderParts = allOrderParts,
): Promise<{ total: bigint; rows: BidRow[] }> {
  const ofKind = filter.kind === null ? sql`true` : sql`kind = ${filter.kind}`;
  const query: OrderQuery = {
    schema: "bids",
    filter,
    condition: ofKind,
    countCondition: ofKind,
    marketplaces: null,
  };
  const columns = bidColumns(now, parts);
  return readOrderPage(db, { total: query, page: query }, { columns, sort, slice, now });
}
