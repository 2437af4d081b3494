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
import { readTokenSets } from "#projections/orders/token-sets.ts";
import { treeOf } from "./criteria.ts";
import { type Market, recordReadings } from "./market.ts";
import { rejectUnknownOrder } from "./order-elsewhere.ts";
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

/** A bid and the sale into it. `tokenIds`: those under the bid's root; null: it has none. */
type Match = { bid: CheckedOrder; sale: BidSale; tokenIds: readonly bigint[] | null };

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
  if (row === null) {
    const asked = { noun: "bid", chainId: request.chainId, id: request.bidId, orderHash: hash };
    return rejectUnknownOrder(asked, (other, order) => readBid(writer, other, order, now));
  }
  const sale = saleFor(row, request);
  if (isRejection(sale)) return sale;
  const rejection = evaluateStoredOrder(row);
  if (rejection !== null) return rejection;
  const [match] = await findMatches(market, request.chainId, [{ row, sale }]);
  if (match === undefined) throw new Error(`Bid ${row.orderHash} has no signed order`);
  const { tokenIds } = match;
  if (tokenIds !== null && !tokenIds.includes(match.sale.tokenId)) {
    const message = `tokenId: the offer is for ${tokenIds.length} tokens, and token ${match.sale.tokenId} is not one of them`;
    return reject("token_mismatch", message);
  }
  const results = await queryMatches(market, request.chainId, [match], now);
  if (isRejection(results)) return results;
  const refused = evaluateMatch(match, results, now);
  return refused ?? accept(market, request.chainId, match, results, now);
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
    return reject("token_required", "tokenId: is required for an offer on several tokens");
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
  const [orders, sets] = await Promise.all([
    readAcceptedOrders(writer, chainId, hashes),
    readSetsOf(writer, chainId, bidSales),
  ]);
  return bidSales.flatMap(({ row: { orderHash, criteria }, sale }) => {
    const order = orders.get(orderHash);
    if (order === undefined) return [];
    const tokenIds = criteria === null ? null : (sets.get(criteria) ?? []);
    return { bid: { ...order, orderHash }, sale, tokenIds };
  });
}

/** All bids are on one contract. */
async function readSetsOf(
  writer: Market["writer"],
  chainId: ChainId,
  bidSales: readonly { row: BidRow }[],
) {
  const roots = [...new Set(bidSales.flatMap(({ row }) => row.criteria ?? []))];
  const contract = bidSales[0]?.row.contract;
  return contract === undefined
    ? new Map<Hex, readonly bigint[]>()
    : readTokenSets(writer, { chainId, contract }, roots);
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

/** Why the sale into the bid would fail; null: it would succeed. */
function evaluateMatch({ bid, sale }: Match, results: ChainResults, now: Date) {
  return (
    evaluateBid(bid, sale, results, now) ??
    evaluateSeller(bid, sale, results) ??
    evaluateReceipt(bid, sale, results)
  );
}

function accept(
  { prefix }: Market,
  chainId: ChainId,
  match: Match,
  results: ChainResults,
  now: Date,
): AcceptedBid {
  const { bid, sale } = match;
  const minedAt = results.basis.timestamp;
  const { call, endTime } = acceptArguments(match, { minedAt, now });
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
  };
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
    // The best of all kinds together: one of the next round nets no more.
    const rows = (await readBestBids(market.writer, request, limits, now)).slice(0, bidsPerRound);
    if (rows.length === 0) break;
    checked.push(...rows.map(({ orderHash }) => orderHash));
    const outcome = await acceptFirst(market, request, rows, now);
    if (isRejection(outcome)) return outcome;
    if (outcome.accepted !== undefined) return outcome.accepted;
    refused ??= outcome.rejections.find(isSellerRejection);
    if (rows.length < bidsPerRound || refused?.rejected === "not_owner") break;
  }
  return refused ?? reject("not_found", `No active offer for token ${tokenId} of ${contract}`);
}

/** The sale into the first of the bids that would succeed, or why none would. */
async function acceptFirst(
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
  const rejections: Rejection[] = [];
  for (const match of matches) {
    const rejection = evaluateMatch(match, results, now);
    if (rejection === null)
      return { accepted: accept(market, request.chainId, match, results, now), rejections };
    rejections.push(rejection);
  }
  return { accepted: undefined, rejections };
}

const sellerRejectionCodes = {
  not_owner: true,
  insufficient_quantity: true,
  conduit_channel_closed: true,
  transfer_restricted: true,
  rpc_unavailable: true,
} as const satisfies Record<SellerRejectionCode, true>;

/** A rejection that is not, or not only, because of the bid's own state, which the caller should learn of. */
function isSellerRejection(rejection: Rejection): rejection is Rejection<SellerRejectionCode> {
  return rejection.rejected in sellerRejectionCodes;
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
 * A bid on one token is filled whole as a basic order; a bid on several by a mirror order, which only its seller
 * can send. The mirror order starts at `minedAt`, the time of the latest block, which may be behind our clock.
 * `endTime`: until when the call can succeed, in unix seconds.
 */
function acceptArguments(
  { bid, sale, tokenIds }: Match,
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
  const criteriaProof = tokenIds === null ? [] : proofOf(bid, sale, tokenIds);
  const matched = matchBidWithMirror(bid, { ...sale, ...mirror, criteriaProof });
  return {
    call: { method: "matchAdvancedOrders", ...matched },
    endTime: endTime < mirror.endTime ? endTime : mirror.endTime,
  };
}

function proofOf({ orderHash }: CheckedOrder, { tokenId }: BidSale, tokenIds: readonly bigint[]) {
  const proof = treeOf(tokenIds).proofOf(tokenId);
  if (proof === null) throw new Error(`Bid ${orderHash} is not for token ${tokenId}`);
  return proof;
}

const unixSeconds = (time: Date) => BigInt(Math.floor(time.getTime() / 1000));
