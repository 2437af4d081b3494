import type { Address } from "viem";
import type { ChainId } from "#chains/index.ts";
import { isRejection, reject } from "#projections/domain/rejection.ts";
import { type BidRow, readBid } from "#projections/orders/read-bids.ts";
import { readAcceptedOrders } from "#projections/orders/read-signed-orders.ts";
import type { ChainResults } from "#jobs/chain/query-chain.ts";
import { type CheckedOrder, evaluateStoredOrder, type chainUnavailable, queryChainOrReject } from "#jobs/orders/evaluate-order.ts";
import type { Market } from "../market/market.ts";
import { orderHashOf, orderId } from "../market/order-id.ts";
import { recordReadings } from "../market/record-readings.ts";
import { type AcceptArguments, acceptArguments } from "./accept-arguments.ts";
import { bidQueries, evaluateBid, evaluateReceipt, evaluateSeller, isBidReading, type BidSale, saleQueries, sellerApproval } from "#jobs/orders/evaluate-bid.ts";

/** A call that sells into a bid and would succeed now. */
export type Accepted = {
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

export type Seller = {
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

export function saleFor(row: BidRow, { seller, tokenId, units }: RequestedSale) {
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

export async function findMatches(
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
export async function queryMatches(
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

export function accept(
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
  } satisfies Accepted;
}
