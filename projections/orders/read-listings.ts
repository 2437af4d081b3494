import { type RawBuilder, sql } from "kysely";
import type { Address, Hex } from "viem";
import { type ListingMarketplace, listingMarketplaces } from "../domain/marketplaces.ts";
import type { ListingReason } from "../domain/orders/order-status.ts";
import type { Database } from "../log/database.ts";
import {
  type OrderFilter,
  type OrderQuery,
  type OrderSlice,
  type OrderSort,
  type PastOrders,
  readHashedOrderPage,
  readOrderPage,
} from "./read-order-page.ts";
import {
  allOrderParts,
  endedSince,
  hasEnded,
  isOpen,
  type OrderParts,
  type OrderRow,
  orderColumns,
  readOrdersByHash,
} from "./read-orders.ts";

/** A listing and its state at a given time. */
export type ListingRow = OrderRow & {
  marketplace: ListingMarketplace;
  /** Whether fulfillment data can be generated while it is active. */
  isBuyable: boolean;
  tokenId: bigint;
  /** Unfilled units that the maker holds. */
  fillable: bigint;
  /** null: native. */
  currency: Hex | null;
  reason: ListingReason | null;
};

export async function readListing(
  db: Database,
  chainId: number,
  orderHash: Hex,
  now: Date,
): Promise<ListingRow | null> {
  return (await readListings(db, chainId, [orderHash], now))[0] ?? null;
}

/** Those of the orders that are listings, unsorted. */
export async function readListings(
  db: Database,
  chainId: number,
  orderHashes: readonly Hex[],
  now: Date,
  parts: OrderParts = allOrderParts,
): Promise<ListingRow[]> {
  const columns = listingColumns(now, parts);
  return readOrdersByHash(db, { schema: "listings", columns }, chainId, orderHashes);
}

/** Of row `o` joined with `collectionJoins`. */
export function listingColumns(now: Date, parts: OrderParts = allOrderParts) {
  return sql`${orderColumns(now, parts)}, o.marketplace, o.is_buyable as "isBuyable", o.token_id as "tokenId", o.currency,
    case when ${endedSince(now)} then 0 else o.fillable end as fillable`;
}

export type ListingFilter = OrderFilter & {
  /** null: any. */
  marketplace: ListingMarketplace | null;
  minPriceWei: bigint | null;
  maxPriceWei: bigint | null;
  /** SQL: which tokens, of row `o`; none: any. */
  ofTokens?: RawBuilder<unknown>;
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
  past?: PastOrders,
) {
  const total = listingQuery(filter, past);
  const page = listingQuery(withoutImpliedBound(filter, sort, slice), past);
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

function listingQuery(filter: ListingFilter, past?: PastOrders): OrderQuery {
  const { marketplace, minPriceWei, maxPriceWei, maker, tokenId, ofTokens } = filter;
  const wanted = marketplace === null ? listingMarketplaces : [marketplace];
  const ofMarketplace = sql`marketplace in (${sql.join(wanted.map((name) => sql.lit(name)))})`;
  const isBounded = minPriceWei !== null || maxPriceWei !== null || ofTokens !== undefined;
  const from = minPriceWei === null ? sql`` : sql`and o.unit_price_wei >= ${minPriceWei}::numeric`;
  const upTo = maxPriceWei === null ? sql`` : sql`and o.unit_price_wei <= ${maxPriceWei}::numeric`;
  return {
    schema: "listings",
    filter,
    rowsOfToken: null,
    condition: sql`${ofMarketplace} ${from} ${upTo} and ${ofTokens ?? sql`true`}`,
    countCondition: isBounded || past !== undefined ? null : ofMarketplace,
    marketplaces: maker === null && tokenId === null ? wanted : null,
    ...(past && { past }),
  };
}

/** The price of a listing of a token. */
type AskingPrice = {
  maker: Address;
  contract: Address;
  tokenId: bigint;
  unitPriceWei: bigint;
};

export type NativeListing = AskingPrice & { orderHash: Hex; counter: bigint };

/**
 * The makers' listings of the same tokens on our own marketplace that can still be bought for less. Superseded ones
 * included: they are inactive here only, and their signatures remain valid on chain.
 */
export async function readCheaperNativeListings(
  db: Database,
  chainId: number,
  prices: readonly AskingPrice[],
  now: Date,
): Promise<NativeListing[]> {
  const { rows } = await sql<NativeListing>`
    select o.maker, k.address as contract, o.token_id as "tokenId", o.unit_price_wei as "unitPriceWei",
           o.order_hash as "orderHash", o.counter
    from (
      select decode(maker, 'hex') as maker, decode(contract, 'hex') as contract, token_id, max(price_wei) as price_wei
      from unnest(
        ${prices.map(({ maker }) => maker.slice(2))}::text[],
        ${prices.map(({ contract }) => contract.slice(2))}::text[],
        ${prices.map(({ tokenId }) => String(tokenId))}::numeric[],
        ${prices.map(({ unitPriceWei }) => String(unitPriceWei))}::numeric[]
      ) price (maker, contract, token_id, price_wei)
      group by 1, 2, 3
    ) price
    join log.contract k on k.chain_id = ${chainId} and k.address = price.contract
    join listings.listing o
      on o.contract_id = k.contract_id and o.token_id = price.token_id and o.maker = price.maker
      and o.marketplace = 'native'
    where ${isOpen} and (o.status = 'active' or o.reason = 'superseded') and not ${hasEnded(now)}
      and o.unit_price_wei < price.price_wei`.execute(db);
  return rows;
}
