import { randomBytes } from "node:crypto";
import { type Address, bytesToBigInt, type Hex } from "viem";
import type { ChainId } from "#chains/index.ts";
import type { ChainResults } from "#jobs/chain/query-chain.ts";
import {
  type BidSale,
  bidQueries,
  evaluateBid,
  evaluateReceipt,
  evaluateSeller,
  isBidReading,
  type SellerRejectionCode,
  saleQueries,
  sellerApproval,
} from "#jobs/orders/evaluate-bid.ts";
import {
  type CheckedOrder,
  type chainUnavailable,
  evaluateStoredOrder,
  queryChainOrReject,
} from "#jobs/orders/evaluate-order.ts";
import { isRejection, type Rejection, reject } from "#projections/domain/rejection.ts";
import {
  type BasicOrderParameters,
  basicOrderForItemBid,
  type MatchedOrders,
  matchBidWithMirror,
} from "#projections/domain/seaport/fill.ts";
import { type BidRow, readBestBids, readBid } from "#projections/orders/read-bids.ts";
import { readAcceptedOrders } from "#projections/orders/read-signed-orders.ts";
import { type Market, recordReadings } from "./market.ts";
import { orderHashOf, orderId } from "./order-id.ts";

/** A call that sells into a bid and would succeed now. */
export type AcceptedBid = {
  bidId: string;
  chainId: ChainId;
  contract: Address;
  tokenId: bigint;
  units: bigint;
  /** For all the units. */
  sellerNetWei: bigint;
  /** Null: unknown. */
  isApproved: boolean | null;
  validUntil: Date;
  call: AcceptArguments;
};

/** A bid and the sale into it. */
type Match = { bid: CheckedOrder; sale: BidSale };

type Seller = {
  chainId: ChainId;
  seller: Address;
  /** Units of an ERC-1155 token; null: one, or all units of a bid on one token. */
  units: bigint | null;
};

/** The call that sells into a given bid. */
export async function acceptBid(
  market: Market,
  request: Seller & { bidId: string; tokenId: bigint | null },
  now: Date,
) {
  const { writer, prefix } = market;
  const hash = orderHashOf(prefix, request.bidId);
  const row = hash === null ? null : await readBid(writer, request.chainId, hash, now);
  if (row === null) return reject("not_found", `No offer ${request.bidId}`);
  const sale = saleFor(row, request);
  if (isRejection(sale)) return sale;
  const rejection = evaluateStoredOrder(row);
  if (rejection !== null) return rejection;
  const [match] = await findMatches(market, request.chainId, [{ row, sale }]);
  if (match === undefined) throw new Error(`Bid ${row.orderHash} has no signed order`);
  const results = await queryMatches(market, request.chainId, [match], now);
  return isRejection(results) ? results : accept(market, request.chainId, match, results, now);
}

type RequestedSale = Seller & { tokenId: bigint | null };

function saleFor(row: BidRow, { seller, tokenId, units }: RequestedSale) {
  if (row.maker === seller) {
    return reject("self_offer", "fulfiller: must not be the bidder");
  }
  if (row.tokenId !== null && tokenId !== null && tokenId !== row.tokenId) {
    return reject("token_mismatch", `tokenId: the offer is for token ${row.tokenId}`);
  }
  const sold = row.tokenId ?? tokenId;
  if (sold === null) {
    return reject("token_required", "tokenId: is required for a collection offer");
  }
  const soldUnits = unitsFor(row, units);
  if (isRejection(soldUnits)) return soldUnits;
  return { seller, tokenId: sold, units: soldUnits } satisfies BidSale;
}

/** A bid on one token is filled whole; of an ERC-1155 collection bid any number of units. */
function unitsFor(row: BidRow, requested: bigint | null) {
  const isWhole = row.kind === "single-token";
  const defaultUnits = isWhole ? row.quantity : 1n;
  const isAnyNumber = !isWhole && row.standard === 1155;
  if (requested === null || requested === defaultUnits || isAnyNumber) {
    return requested ?? defaultUnits;
  }
  return reject("bad_amount", `amount: must be ${defaultUnits} for this offer`);
}

async function findMatches(
  { writer }: Market,
  chainId: ChainId,
  bidSales: readonly { row: BidRow; sale: BidSale }[],
): Promise<Match[]> {
  const hashes = bidSales.map(({ row }) => row.orderHash);
  const orders = await readAcceptedOrders(writer, chainId, hashes);
  return bidSales.flatMap(({ row: { orderHash }, sale }) => {
    const order = orders.get(orderHash);
    return order === undefined ? [] : { bid: { ...order, orderHash }, sale };
  });
}

/** One round of chain queries for all matches. Readings about bids are recorded, those about sales are not. */
async function queryMatches(
  market: Market,
  chainId: ChainId,
  matches: readonly Match[],
  now: Date,
): Promise<ChainResults | ReturnType<typeof chainUnavailable>> {
  const ofBids = matches.flatMap(({ bid }) => bidQueries(bid));
  const ofSales = matches.flatMap(({ bid, sale }) => saleQueries(bid, sale));
  const results = await queryChainOrReject(market, chainId, [...ofBids, ...ofSales]);
  if (isRejection(results)) return results;
  const readings = results.readings.filter(isBidReading);
  await recordReadings(market, { chainId, basis: results.basis, readings }, now);
  return results;
}

function accept(
  { prefix }: Market,
  chainId: ChainId,
  { bid, sale }: Match,
  results: ChainResults,
  now: Date,
) {
  const rejection =
    evaluateBid(bid, sale, results, now) ??
    evaluateSeller(bid, sale, results) ??
    evaluateReceipt(bid, sale, results);
  if (rejection !== null) return rejection;
  const minedAt = results.basis.timestamp;
  const { call, endTime } = acceptArguments(bid, sale, { minedAt, now });
  return {
    bidId: orderId(prefix, bid.orderHash),
    chainId,
    contract: bid.terms.contract,
    tokenId: sale.tokenId,
    units: sale.units,
    sellerNetWei: bid.terms.sellerNetWei * sale.units,
    isApproved: sellerApproval(bid, sale, results),
    validUntil: new Date(Number(endTime) * 1000),
    call,
  } satisfies AcceptedBid;
}

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
  outcome: AcceptedBid | Rejection,
): outcome is Rejection<SellerRejectionCode> {
  return isRejection(outcome) && outcome.rejected in sellerRejectionCodes;
}

/** The exchange's method that sells into a bid, and its arguments. The caller encodes them. */
type AcceptArguments =
  | {
      method: "fulfillBasicOrder_efficient_6GL6yc";
      basicOrderParameters: BasicOrderParameters;
    }
  | ({ method: "matchAdvancedOrders" } & MatchedOrders);

/** A mirror order is valid for half an hour. */
const mirrorSeconds = 30 * 60;

/**
 * A bid on one token is filled whole as a basic order; a collection bid by a mirror order, which only its seller
 * can send. The mirror order starts at `minedAt`, the time of the latest block, which may be behind our clock.
 * `endTime`: until when the call can succeed, in unix seconds.
 */
function acceptArguments(
  bid: CheckedOrder,
  sale: BidSale,
  { minedAt, now }: { minedAt: Date; now: Date },
): { call: AcceptArguments; endTime: bigint } {
  const { endTime } = bid.components;
  if (bid.terms.tokenId !== null) {
    const basicOrderParameters = basicOrderForItemBid(bid);
    return {
      call: { method: "fulfillBasicOrder_efficient_6GL6yc", basicOrderParameters },
      endTime,
    };
  }
  const latest = minedAt > now ? minedAt : now;
  const mirror = {
    startTime: unixSeconds(minedAt),
    endTime: unixSeconds(latest) + BigInt(mirrorSeconds),
    salt: bytesToBigInt(randomBytes(16)),
  };
  const matched = matchBidWithMirror(bid, { ...sale, ...mirror, criteriaProof: [] });
  return {
    call: { method: "matchAdvancedOrders", ...matched },
    endTime: endTime < mirror.endTime ? endTime : mirror.endTime,
  };
}

const unixSeconds = (time: Date) => BigInt(Math.floor(time.getTime() / 1000));
