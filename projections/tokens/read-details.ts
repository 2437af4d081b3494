import { sql } from "kysely";
import type { Hex } from "viem";
import type { BidRow } from "../bids/read.ts";
import { readBestBidsOfTokens } from "../bids/read-best.ts";
import { isBurnAddress } from "../burn-address.ts";
import type { Session } from "../database.ts";
import type { ListingRow } from "../listings/read.ts";
import { readCheapestListings } from "../listings/read-cheapest.ts";
import type { TokenRow } from "../ownership/read.ts";
import type { SaleRow } from "../sales/read.ts";
import { readLastSales } from "../sales/read-last.ts";
import type { TokenPlace } from "./filter.ts";

export type TokenAttribute = {
  trait_type: string;
  value: string | number | boolean;
  display_type?: string;
};

/** A token with what its metadata says and its rank; absent metadata has not been fetched yet. */
export type DescribedToken = TokenRow & {
  status: "ok" | "failed" | null;
  name: string | null;
  description: string | null;
  image: string | null;
  animation: string | null;
  contentType: string | null;
  tokenUri: string | null;
  attributes: TokenAttribute[] | null;
  describedAt: Date | null;
  rank: number | null;
  score: number | null;
  /** Tokens that have a rank. */
  ranked: number | null;
};

/** A token with what it costs, what is bid for it, and its last sale. */
export type TokenDetails = {
  row: DescribedToken;
  listing: ListingRow | null;
  bestBid: BidRow | null;
  lastSale: SaleRow | null;
};

/** What there is to tell of tokens of a collection, in the order asked: a few statements for all of them. */
export async function readTokenDetails(
  session: Session,
  collectionId: number,
  places: readonly TokenPlace[],
  now: Date,
): Promise<TokenDetails[]> {
  if (places.length === 0) return [];
  const rows = await readDescribed(session, collectionId, places);
  const listings = byToken(await readCheapestListings(session, places, now));
  const bids = await readBestBidsOfTokens(session, places, now);
  const sales = await readLastSales(session, places);
  return rows.map((row) => ({
    row,
    listing: listings.get(nameOf(row)) ?? null,
    bestBid: bids.get(nameOf(row)) ?? null,
    lastSale: sales.get(nameOf(row)) ?? null,
  }));
}
