import type { Database } from "../log/database.ts";
import { readPastToken } from "../tokens/read-past-token.ts";
import {
  readTokenDetails,
  type TokenDetails,
  type TokenPart,
} from "../tokens/read-token-details.ts";
import type { Moment } from "./moment.ts";
import { readPastBestBid } from "./read-past-bids.ts";
import { readPastFloor } from "./read-past-listings.ts";
import { readPastLastSale } from "./read-past-sales.ts";

const documents: ReadonlySet<TokenPart> = new Set(["metadata", "attributes", "documents"]);

/**
 * A token with its owner, orders and last sale of a moment, and the documents of today, without a rank; null: there was none.
 * Throws `TooMuchToFold`.
 */
export async function readPastTokenDetails(
  db: Database,
  contractIds: readonly number[],
  tokenId: bigint,
  moment: Moment,
): Promise<TokenDetails | null> {
  const token = await readPastToken(db, contractIds, tokenId, moment.point);
  if (token === null) return null;
  const subject = { contractIds: [token.contractId], tokenId };
  // Of one standard today, which may be another.
  const today = ([721, 1155] as const).map((standard) => ({ ...token, standard }));
  const [[described], { floor }, bestBid, lastSale] = await Promise.all([
    readTokenDetails(db, today, { collectionId: null, parts: documents, now: moment.clock }),
    readPastFloor(db, moment, { ...subject, maker: null }),
    readPastBestBid(db, moment, subject),
    readPastLastSale(db, token, moment),
  ]);
  if (described === undefined) throw new Error("a token of then is missing today");
  return { row: { ...described.row, ...token }, listing: floor, bestBid, lastSale };
}
