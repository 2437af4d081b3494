import type { Hex } from "viem";
import type { ChainId } from "#chains/index.ts";
import { type BuyRejection, toBuyRejection } from "#jobs/orders/evaluate-listing.ts";
import { evaluateStoredOrder } from "#jobs/orders/evaluate-order.ts";
import { partnersFillingByApi } from "#projections/domain/partners.ts";
import { type Rejection, reject } from "#projections/domain/rejection.ts";
import { orderHash } from "#projections/domain/seaport/order-hash.ts";
import { type ListingRow, readListing, readListings } from "#projections/orders/read-listings.ts";
import {
  type MarketplaceOrder,
  readMarketplaceOrders,
} from "#projections/orders/read-signed-orders.ts";
import type { Market } from "./market.ts";
import { rejectUnknownOrder } from "./order-elsewhere.ts";
import { listingId, listingOf } from "./order-id.ts";

/** A stored listing and its signed order. */
export type BuyableListing = {
  askId: string;
  row: ListingRow;
  order: MarketplaceOrder & { orderHash: Hex };
};

type FindRejection =
  | BuyRejection
  | Rejection<"not_found" | "order_mismatch" | "unsupported_marketplace" | "unsupported_order">;

/** The listings that are buyable according to the projections, or why one is not. */
export async function findBuyableListings(
  { writer, prefix, partners }: Pick<Market, "writer" | "prefix" | "partners">,
  { chainId, askIds }: { chainId: ChainId; askIds: readonly string[] },
  now: Date,
): Promise<(BuyableListing | FindRejection)[]> {
  const names = askIds.map((askId) => listingOf(prefix, askId));
  const hashes = names.flatMap((name) => name?.orderHash ?? []);
  const [rows, orders] = await Promise.all([
    readListings(writer, chainId, hashes, now),
    readMarketplaceOrders(writer, chainId, hashes),
  ]);
  const rowOf = new Map(rows.map((row) => [listingId(prefix, row), row]));
  const found = askIds.map(async (id, index) => {
    const name = names[index];
    const askId = name && listingId(prefix, name);
    const row = askId && rowOf.get(askId);
    if (!name || !askId || !row) {
      const asked = { noun: "listing", chainId, id, orderHash: name?.orderHash ?? null };
      return rejectUnknownOrder(asked, (other, hash) => readListing(writer, other, hash, now));
    }
    const rejection = rejectRow(row, partners);
    if (rejection !== null) return rejection;
    const order = orders.get(name.orderHash);
    if (order === undefined || !matchesRow(row, order)) {
      return reject("order_mismatch", "The signed order does not match the listing");
    }
    return { askId, row, order: { ...order, orderHash: name.orderHash } };
  });
  return Promise.all(found);
}

function rejectRow(row: ListingRow, partners: Market["partners"]): FindRejection | null {
  const { marketplace, isBuyable } = row;
  const needsPartner = partnersFillingByApi.includes(marketplace);
  if (needsPartner && !partners.some(({ name }) => name === marketplace)) {
    return reject("unsupported_marketplace", `Listings of ${marketplace} cannot be bought here`);
  }
  if (!isBuyable) {
    return reject("unsupported_order", "Its order cannot be filled through this API");
  }
  const rejection = evaluateStoredOrder(row);
  return rejection === null ? null : toBuyRejection(rejection);
}

/** Whether the order sells exactly what the row shows. */
function matchesRow(row: ListingRow, { components, terms }: MarketplaceOrder): boolean {
  const wholeWei = components.consideration.reduce((sum, leg) => sum + leg.startAmount, 0n);
  return (
    orderHash(components) === row.orderHash &&
    row.unitPriceWei * row.quantity === wholeWei &&
    terms.contract === row.contract &&
    terms.tokenId === row.tokenId &&
    terms.quantity === row.quantity
  );
}
