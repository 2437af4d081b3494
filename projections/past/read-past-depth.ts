import type { ListingMarketplace } from "../domain/marketplaces.ts";
import type { BidKind } from "../domain/orders/order-terms.ts";
import type { Database } from "../log/database.ts";
import { type Depth, readBidDepth, readListingDepth } from "../orders/read-depth.ts";
import type { Moment } from "./moment.ts";
import { pastBids } from "./read-past-bids.ts";
import { pastListings } from "./read-past-listings.ts";

/** Depth of listings and of bids of contracts as it was at a moment. Throws `TooMuchToFold`. */
export async function readPastDepth(
  db: Database,
  contractIds: readonly number[],
  levels: number,
  moment: Moment,
): Promise<[Depth<ListingMarketplace>, Depth<BidKind>]> {
  const subject = { contractIds, tokenId: null, maker: null };
  const asks = pastListings({ ...subject, marketplace: null }, moment);
  const bids = pastBids(subject, moment);
  return await Promise.all([
    readListingDepth(db, contractIds, levels, moment.clock, asks),
    readBidDepth(db, contractIds, levels, moment.clock, bids),
  ]);
}
