import type { Database } from "#projections/log/database.ts";
import type { BidReason } from "#projections/domain/orders/order-status.ts";
import { type ExposedMaker, exposedOrders, exposedSort } from "../orders/exposed-orders.ts";
import { type OrderSlice, readOrderPage } from "../orders/order-page.ts";
import { type BidRow, bidColumns } from "./read-bid.ts";

/** Reasons that end when money or an allowance comes back to the maker, without anything signed anew. */
const reasons: readonly BidReason[] = ["insufficient_balance", "insufficient_allowance"];

/** Inactive bids of a maker that a balance or an allowance would make fillable; newest first. */
export async function readExposedBids(
  db: Database,
  maker: ExposedMaker,
  slice: OrderSlice,
  now: Date,
): Promise<BidRow[]> {
  const query = exposedOrders("bids", maker, reasons);
  const page = { columns: bidColumns(now), sort: exposedSort, slice, now } as const;
  return (await readOrderPage<BidRow>(db, { total: query, page: query }, page)).rows;
}
