import { sql } from "kysely";
import type { Database } from "../../database.ts";
import { type ListingMarketplace, marketplaces } from "../../listings/marketplaces.ts";
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
import { type ListingRow, listingColumns } from "./read.ts";

export type ListingsFilter = BookFilter & {
  /** null: any. */
  marketplace: ListingMarketplace | null;
  minPriceWei: bigint | null;
  maxPriceWei: bigint | null;
};

/** Listings in order, and how many the filter matches, of one moment. */
export async function readListingPage(
  db: Database,
  filter: ListingsFilter,
  sort: OrderSort,
  slice: OrderSlice,
  now: Date,
): Promise<{ total: bigint; rows: ListingRow[] }> {
  const { rows } = await sql<ListingRow & { total: bigint; orderHash: string | null }>`
    with counted as materialized (select ${totalOf(listingBook(filter), now)} as total),
    page as (${pageOf(listingBook(withoutImplied(filter, sort, slice)), sort, slice, now)})
    select counted.total, ${listingColumns(now)}
    from counted left join page o on true ${naming}
    ${inOrder(sort)}`.execute(db);
  return { total: rows[0]?.total ?? 0n, rows: rows.filter(({ orderHash }) => orderHash !== null) };
}

/**
 * The bound that the cursor's price has passed already is left out: beside it an index scan would begin at the bound
 * and walk the whole depth.
 */
function withoutImplied(
  filter: ListingsFilter,
  sort: OrderSort,
  { after }: OrderSlice,
): ListingsFilter {
  if (after === null || sort === "created_at") return filter;
  return { ...filter, [sort === "price_asc" ? "minPriceWei" : "maxPriceWei"]: null };
}

function listingBook(filter: ListingsFilter): Book {
  const { marketplace, minPriceWei, maxPriceWei, maker } = filter;
  const wanted = marketplace === null ? marketplaces : [marketplace];
  const ofMarketplace = sql`marketplace in (${sql.join(wanted.map((name) => sql.lit(name)))})`;
  const isBounded = minPriceWei !== null || maxPriceWei !== null;
  const from = minPriceWei === null ? sql`` : sql`and o.unit_price_wei >= ${minPriceWei}::numeric`;
  const upTo = maxPriceWei === null ? sql`` : sql`and o.unit_price_wei <= ${maxPriceWei}::numeric`;
  return {
    schema: "listings",
    filter,
    condition: sql`${ofMarketplace} ${from} ${upTo}`,
    counted: isBounded ? null : ofMarketplace,
    apart: maker === null ? wanted : null,
  };
}
