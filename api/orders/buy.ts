import { type Address, type Hex, zeroAddress } from "viem";
import type { ChainId } from "../../abis/deployments.ts";
import { isRejection, type Rejection, reject } from "../../projections/domain/rejection.ts";
import { orderHash } from "../../projections/domain/seaport/order-hash.ts";
import { type ListingRow, readListings } from "../../projections/listings/read.ts";
import { readSignedOrder, type StoredOrder } from "../../projections/orders/read-signed-order.ts";
import type { ChainAnswers } from "../chain/ask-chain.ts";
import { RpcFailure } from "../chain/rpc-batch.ts";
import { buildPurchase, type Purchase, serviceTag } from "./buy-calldata.ts";
import { judgeListing, questionsOfListing, refuseSale } from "./buy-check.ts";
import { type CheckedOrder, judgeStored } from "./check-order.ts";
import type { Market } from "./market.ts";
import { orderHashOf, orderId } from "./order-id.ts";
import { recordReadings } from "./record-readings.ts";

export type BuyRequest = {
  chainId: ChainId;
  askIds: readonly string[];
  /** Who receives the token; null: whoever sends the transaction. */
  buyer: Address | null;
  /** Null: all units left. */
  units: bigint | null;
  /** Most that all units may cost. */
  maxWei: bigint | null;
};

type BuyCode =
  | "not_found"
  | "inactive"
  | "unavailable"
  | "order_mismatch"
  | "price_above_max"
  | "bad_amount"
  | "unsupported_marketplace"
  | "unsupported_order"
  | "upstream_error"
  | "buying_disabled";

export type Bought = { askId: string; chainId: ChainId; purchase: Purchase; endsAt: Date };
type Found = { askId: string; listing: CheckedOrder };
type Outcome<Value> = Value | Rejection<BuyCode>;

/** What to send to buy each of the listings, after one look at the chain for all of them; or why one cannot be bought. */
export async function buyListings(
  market: Market,
  request: BuyRequest,
  now: Date,
): Promise<Outcome<Bought>[]> {
  const { chainId, askIds } = request;
  if (await market.isPaused("buying")) {
    return askIds.map(() => reject("buying_disabled", "Buying is switched off for now"));
  }
  const candidates = await findListings(market, request, now);
  const listings = candidates.flatMap((one) => (isRejection(one) ? [] : one.listing));
  const answers = await askForListings(market, chainId, listings);
  if (answers !== null && !isRejection(answers)) {
    await recordReadings(market, { chainId, ...answers }, now);
  }
  const tag = serviceTag(market.prefix);
  return candidates.map((candidate) => {
    if (isRejection(candidate)) return candidate;
    if (answers === null || isRejection(answers)) return answers ?? noAnswer;
    const purchase = sell(candidate.listing, answers, { ...request, now, tag });
    if (isRejection(purchase)) return purchase;
    const endsAt = new Date(Number(candidate.listing.components.endTime) * 1000);
    return { askId: candidate.askId, chainId, purchase, endsAt };
  });
}

const noAnswer = reject("upstream_error", "The chain could not be asked; try again");

/** Null: there is nothing to ask. */
async function askForListings(
  market: Market,
  chainId: ChainId,
  listings: readonly CheckedOrder[],
): Promise<ChainAnswers | typeof noAnswer | null> {
  if (listings.length === 0) return null;
  try {
    return await market.ask(chainId, listings.flatMap(questionsOfListing));
  } catch (error) {
    if (error instanceof RpcFailure) return noAnswer;
    throw error;
  }
}

/** Those of the listings that the book calls buyable. */
async function findListings(
  { writer, prefix }: Market,
  { chainId, askIds }: BuyRequest,
  now: Date,
): Promise<Outcome<Found>[]> {
  const hashes = askIds.flatMap((askId) => orderHashOf(prefix, askId) ?? []);
  const [rows, orders] = await Promise.all([
    readListings(writer, chainId, hashes, now),
    readSignedOrder(writer, chainId, hashes),
  ]);
  return askIds.map((askId) => {
    const hash = orderHashOf(prefix, askId);
    const row = rows.find((one) => one.orderHash === hash);
    if (hash === null || row === undefined) return reject("not_found", `No listing ${askId}`);
    const refused = refuseRow(row);
    if (refused !== null) return refused;
    const order = orders.get(hash);
    if (order === undefined || !isSame(row, order)) {
      return reject("order_mismatch", "The signed order is not the listing shown");
    }
    return { askId: orderId(prefix, hash), listing: { ...order, orderHash: hash } };
  });
}

function refuseRow(row: ListingRow): Rejection<BuyCode> | null {
  if (row.marketplace !== "native") {
    return reject(
      "unsupported_marketplace",
      `Listings of ${row.marketplace} cannot be bought here`,
    );
  }
  if (row.currency !== null) {
    return reject("unsupported_order", "Only prices in the native currency can be paid here");
  }
  const refused = judgeStored(row);
  return refused === null ? null : refuseSale(refused);
}

/** What is sold must be what was shown, to the last unit and wei. */
function isSame(row: ListingRow, { components, terms }: StoredOrder): boolean {
  const wholeWei = components.consideration.reduce((sum, leg) => sum + leg.startAmount, 0n);
  return (
    orderHash(components) === row.orderHash &&
    row.unitPriceWei * row.quantity === wholeWei &&
    terms.contract === row.contract &&
    terms.tokenId === row.tokenId &&
    terms.quantity === row.quantity
  );
}

type Choice = Pick<BuyRequest, "buyer" | "units" | "maxWei"> & { now: Date; tag: Hex };

function sell(
  listing: CheckedOrder,
  answers: ChainAnswers,
  { buyer, units: asked, maxWei, now, tag }: Choice,
): Outcome<Purchase> {
  const fillable = judgeListing(listing, answers, now);
  if (isRejection(fillable)) return refuseSale(fillable);
  const units = asked ?? fillable;
  if (units > fillable) {
    return reject("bad_amount", `amount: ${fillable} units can be bought now, not ${units}`);
  }
  const purchase = buildPurchase(listing, { units, recipient: buyer ?? zeroAddress, tag });
  if (maxWei !== null && purchase.valueWei > maxWei) {
    return reject("price_above_max", `The price is ${purchase.valueWei} wei, above ${maxWei}`);
  }
  return purchase;
}
