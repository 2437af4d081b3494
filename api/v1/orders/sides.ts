import type { Hex } from "viem";
import { z } from "zod";
import { rejectUnknownOrder } from "#api/orders/order-elsewhere.ts";
import type { ChainId } from "#chains/index.ts";
import type { Rejection } from "#projections/domain/rejection.ts";
import type { Database } from "#projections/log/database.ts";
import { type BidRow, readBid } from "#projections/orders/read-bids.ts";
import { type ListingRow, readListing } from "#projections/orders/read-listings.ts";
import type { OrderRow } from "#projections/orders/read-orders.ts";
import { askId, bidId } from "../parameters.ts";

/** What differs between listings and bids in the endpoints that both have. */
export type Side<Row extends OrderRow = OrderRow> = {
  readonly side: "ask" | "bid";
  /** In operation ids. */
  readonly name: "Ask" | "Bid";
  /** Paths begin with `/v1/orders/asks` or `/v1/orders/bids`. */
  readonly path: string;
  readonly idName: "askId" | "bidId";
  readonly idParameter: typeof askId;
  /** In descriptions. */
  readonly noun: string;
  /** Pauses submissions of this side. */
  readonly feature: "listings" | "offers";
  read(db: Database, chainId: ChainId, orderHash: Hex, now: Date): Promise<Row | null>;
};

export const asks: Side<ListingRow> = {
  side: "ask",
  name: "Ask",
  path: "/v1/orders/asks",
  idName: "askId",
  idParameter: askId,
  noun: "listing",
  feature: "listings",
  read: readListing,
};

export const bids: Side<BidRow> = {
  side: "bid",
  name: "Bid",
  path: "/v1/orders/bids",
  idName: "bidId",
  idParameter: bidId,
  noun: "bid",
  feature: "offers",
  read: readBid,
};

type OrderName = { readonly chainId: ChainId; readonly id: string; readonly orderHash: Hex | null };

/** Refuses an id that the chain does not have. */
export const orderNotFound = <Row extends OrderRow>(
  { noun, read }: Side<Row>,
  asked: OrderName,
  db: Database,
  now: () => Date,
): Promise<Rejection<"not_found">> =>
  rejectUnknownOrder({ noun, ...asked }, (chainId, hash) => read(db, chainId, hash, now()));

/** The path parameter that names an order. */
export function idParams({ idName, idParameter }: Side) {
  return z.object({ [idName]: idParameter });
}

/** The value of that parameter. */
export function idIn({ idName }: Side, params: Readonly<Record<string, string>>): string {
  return params[idName] ?? "";
}
