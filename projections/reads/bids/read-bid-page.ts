import { sql } from "kysely";
import type { Database } from "#projections/log/database.ts";
import { allOrderParts, type OrderParts } from "../orders/order-columns.ts";
import { type OrderSlice, type OrderSort, readHashedOrderPage, readOrderPage } from "../orders/order-page.ts";
import type { OrderFilter, OrderQuery } from "../orders/order-query.ts";
import { type BidRow, bidColumns } from "./read-bid.ts";

export type BidFilter = OrderFilter & {
  /** null: both. */
  kind: BidRow["kind"] | null;
};

type PageQuery = Parameters<typeof pageOfBids>;

/** A page of bids, and how many match the filter. */
export const readBidPage = (db: Database, ...query: PageQuery) =>
  readOrderPage<BidRow>(db, ...pageOfBids(...query));

export const readHashedBidPage = (db: Database, ...query: PageQuery) =>
  readHashedOrderPage(db, ...pageOfBids(...query));

function pageOfBids(
  filter: BidFilter,
  sort: OrderSort,
  slice: OrderSlice,
  now: Date,
  parts: OrderParts = allOrderParts,
) {
  const ofKind = filter.kind === null ? sql`true` : sql`kind = ${filter.kind}`;
  const query: OrderQuery = {
    schema: "bids",
    filter,
    condition: ofKind,
    countCondition: ofKind,
    marketplaces: null,
  };
  const columns = bidColumns(now, parts);
  return [
    { total: query, page: query },
    { columns, sort, slice, now },
  ] as const;
}
