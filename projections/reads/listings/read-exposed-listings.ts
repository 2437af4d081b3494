import type { Database } from "#projections/log/database.ts";
import type { ListingReason } from "#projections/domain/orders/order-status.ts";
import { type ExposedMaker, exposedOrders, exposedSort } from "../orders/exposed-orders.ts";
import { type OrderSlice, readOrderPage } from "../orders/order-page.ts";
import { type ListingRow, listingColumns } from "./read-listing.ts";

/** Reasons that end when a token or an approval comes back to the maker, without anything signed anew. */
const reasons: readonly ListingReason[] = ["not_owner", "not_approved"];

/** Inactive listings of a maker, of any marketplace, that a token or an approval would make fillable; newest first. */
export async function readExposedListings(
  db: Database,
  maker: ExposedMaker,
  slice: OrderSlice,
  now: Date,
): Promise<ListingRow[]> {
  const query = exposedOrders("listings", maker, reasons);
  const page = { columns: listingColumns(now), sort: exposedSort, slice, now } as const;
  return (await readOrderPage<ListingRow>(db, { total: query, page: query }, page)).rows;
}
