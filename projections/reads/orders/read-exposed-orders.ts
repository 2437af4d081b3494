import { type RawBuilder, sql } from "kysely";
import type { Hex } from "viem";
import type { Database } from "../../database.ts";
import type { BidReason, ListingReason } from "../../domain/orders/order-status.ts";
import { type BidRow, bidColumns } from "../bids/read-bid.ts";
import { type ListingRow, listingColumns } from "../listings/read-listing.ts";
import {
  type OrderCursor,
  type OrderFilter,
  type OrderQuery,
  type OrderSlice,
  orderCursor,
  readOrderPage,
} from "./order-page.ts";

type Maker = { readonly chainId: number; readonly maker: Hex };

/** Reasons that end when a token, money or an approval comes back to the maker, without anything signed anew. */
const listingReasons: readonly ListingReason[] = ["not_owner", "not_approved"];
const bidReasons: readonly BidReason[] = ["insufficient_balance", "insufficient_allowance"];

/** Inactive listings of a maker, of any marketplace, that a token or an approval would make fillable; newest first. */
export async function readExposedListings(
  db: Database,
  maker: Maker,
  slice: OrderSlice,
  now: Date,
): Promise<ListingRow[]> {
  const query = exposed("listings", maker, listingReasons);
  const page = { columns: listingColumns(now), sort, slice, now } as const;
  return (await readOrderPage<ListingRow>(db, { total: query, page: query }, page)).rows;
}

/** Inactive bids of a maker that a balance or an allowance would make fillable; newest first. */
export async function readExposedBids(
  db: Database,
  maker: Maker,
  slice: OrderSlice,
  now: Date,
): Promise<BidRow[]> {
  const query = exposed("bids", maker, bidReasons);
  const page = { columns: bidColumns(now), sort, slice, now } as const;
  return (await readOrderPage<BidRow>(db, { total: query, page: query }, page)).rows;
}

const sort = "created_at";

export const exposedCursor = (row: ListingRow | BidRow): OrderCursor => orderCursor(sort, row);

function exposed(
  schema: OrderQuery["schema"],
  { chainId, maker }: Maker,
  reasons: readonly string[],
): OrderQuery {
  const filter: OrderFilter = {
    ...{ chainId, maker, status: "inactive" },
    ...{ contractIds: null, tokenId: null },
  };
  const condition: RawBuilder<unknown> = sql`o.reason in (${sql.join(reasons.map((one) => sql.lit(one)))})`;
  return { schema, filter, condition, countCondition: null, marketplaces: null };
}
