import { sql } from "kysely";
import type { Database } from "#projections/log/database.ts";
import { type ListingMarketplace, listingMarketplaces } from "#projections/domain/marketplaces.ts";
import { allOrderParts, type OrderParts } from "../orders/order-columns.ts";
import { type OrderSlice, type OrderSort, readHashedOrderPage, readOrderPage } from "../orders/order-page.ts";
import type { OrderFilter, OrderQuery } from "../orders/order-query.ts";
import { type ListingRow, listingColumns } from "./read-listing.ts";

export type ListingFilter = OrderFilter & {
  /** null: any. */
  marketplace: ListingMarketplace | null;
  minPriceWei: bigint | null;
  maxPriceWei: bigint | null;
};

type PageQuery = Parameters<typeof pageOfListings>;

/** A page of listings, and how many match the filter. */
export const readListingPage = (db: Database, ...query: PageQuery) =>
  readOrderPage<ListingRow>(db, ...pageOfListings(...query));

export const readHashedListingPage = (db: Database, ...query: PageQuery) =>
  readHashedOrderPage(db, ...pageOfListings(...query));

function pageOfListings(
  filter: ListingFilter,
  sort: OrderSort,
  slice: OrderSlice,
  now: Date,
  parts: OrderParts = allOrderParts,
) {
  const total = listingQuery(filter);
  const page = listingQuery(withoutImpliedBound(filter, sort, slice));
  const columns = listingColumns(now, parts);
  return [
    { total, page },
    { columns, sort, slice, now },
  ] as const;
}

/** Without the price bound that the cursor implies: with both, an index scan would start at the bound. */
function withoutImpliedBound(
  filter: ListingFilter,
  sort: OrderSort,
  { after }: OrderSlice,
): ListingFilter {
  if (after === null || sort === "created_at") return filter;
  return { ...filter, [sort === "price_asc" ? "minPriceWei" : "maxPriceWei"]: null };
}

function listingQuery(filter: ListingFilter): OrderQuery {
  const { marketplace, minPriceWei, maxPriceWei, maker, tokenId } = filter;
  const wanted = marketplace === null ? listingMarketplaces : [marketplace];
  const ofMarketplace = sql`marketplace in (${sql.join(wanted.map((name) => sql.lit(name)))})`;
  const isBounded = minPriceWei !== null || maxPriceWei !== null;
  const from = minPriceWei === null ? sql`` : sql`and o.unit_price_wei >= ${minPriceWei}::numeric`;
  const upTo = maxPriceWei === null ? sql`` : sql`and o.unit_price_wei <= ${maxPriceWei}::numeric`;
  return {
    schema: "listings",
    filter,
    condition: sql`${ofMarketplace} ${from} ${upTo}`,
    countCondition: isBounded ? null : ofMarketplace,
    marketplaces: maker === null && tokenId === null ? wanted : null,
  };
}
