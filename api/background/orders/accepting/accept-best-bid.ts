import type { Address, Hex } from "viem";
import { isRejection, type Rejection, reject } from "#projections/domain/rejection.ts";
import { readBestBids, type BidRow } from "#projections/orders/read-bids.ts";
import type { Market } from "../market/market.ts";
import { type Accepted, accept, findMatches, queryMatches, type Seller, saleFor } from "./accept-bid.ts";
import type { SellerRejectionCode } from "#jobs/orders/evaluate-bid.ts";

/** Bids that are checked at once, and how often others are when none of them can be filled: one maker may spoil several. */
const bidsPerRound = 8;
const maxRounds = 5;

/** The call that sells a token into the fillable bid that nets its seller most. */
export async function acceptBestBid(
  market: Market,
  request: Seller & { contract: Address; tokenId: bigint },
  now: Date,
) {
  const { contract, tokenId } = request;
  const checked: Hex[] = [];
  let refused: Rejection<SellerRejectionCode> | undefined;
  for (let round = 0; round < maxRounds; round += 1) {
    const limits = { limit: bidsPerRound, except: checked };
    // The best of both kinds together: one of the next round nets no more.
    const rows = (await readBestBids(market.writer, request, limits, now)).slice(0, bidsPerRound);
    if (rows.length === 0) break;
    checked.push(...rows.map(({ orderHash }) => orderHash));
    const outcomes = await acceptEach(market, request, rows, now);
    if (isRejection(outcomes)) return outcomes;
    const best = outcomes.find((outcome) => !isRejection(outcome));
    if (best !== undefined) return best;
    refused ??= outcomes.find(isSellerRejection);
    if (rows.length < bidsPerRound || refused?.rejected === "not_owner") break;
  }
  return refused ?? reject("not_found", `No active offer for token ${tokenId} of ${contract}`);
}

/** What becomes of the sale into each of the bids, in their order. */
async function acceptEach(
  market: Market,
  request: Seller & { tokenId: bigint },
  rows: readonly BidRow[],
  now: Date,
) {
  const bidSales = rows.flatMap((row) => {
    const sale = saleFor(row, request);
    return isRejection(sale) ? [] : { row, sale };
  });
  const matches = await findMatches(market, request.chainId, bidSales);
  const results = await queryMatches(market, request.chainId, matches, now);
  if (isRejection(results)) return results;
  return matches.map((match) => accept(market, request.chainId, match, results, now));
}

const sellerRejectionCodes = {
  not_owner: true,
  insufficient_quantity: true,
  conduit_channel_closed: true,
  transfer_restricted: true,
  rpc_unavailable: true,
} as const satisfies Record<SellerRejectionCode, true>;

/** A rejection that is not, or not only, because of the bid's own state, which the caller should learn of. */
function isSellerRejection(
  outcome: Accepted | Rejection,
): outcome is Rejection<SellerRejectionCode> {
  return isRejection(outcome) && outcome.rejected in sellerRejectionCodes;
}
