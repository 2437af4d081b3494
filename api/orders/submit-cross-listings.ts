import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { Hex } from "viem";
import type { ChainId } from "#chains/index.ts";
import type { OrderStatus } from "#projections/domain/orders/order-status.ts";
import { isRejection, type Rejection, reject } from "#projections/domain/rejection.ts";
import { orderHash } from "#projections/domain/seaport/order-hash.ts";
import { appendObservations } from "#projections/log/append.ts";
import { unixSeconds } from "#projections/orders/read-orders.ts";
import { readAcceptedOrders } from "#projections/orders/read-signed-orders.ts";
import {
  crossListingSubmitted,
  type SubmittedCrossListing,
} from "#projections/partners/cross-listings.ts";
import {
  readCrossListings,
  type StoredCrossListing,
} from "#projections/partners/read-cross-listings.ts";
import { parseOrderBody } from "./intake/parse.ts";
import type { Market } from "./market.ts";
import { findPostingPartner } from "./partner-terms.ts";
import {
  checkCrossListing,
  type ParsedCrossListing,
  type RequirementsUnmet,
} from "./validate-cross-listing.ts";

/** Why a cross-listing is not posted. */
export const crossListingCodes = [
  "partner_rejected",
  "partner_unavailable",
  "partner_requirements_unmet",
] as const;
type CrossListingCode = (typeof crossListingCodes)[number];

/** The status of a cross-listing. `queued`: it is posted as soon as the partner accepts it. */
export type CrossListing = {
  status: StoredCrossListing["status"];
  /** Of the cross-listing; null: it is not an order. */
  orderHash: Hex | null;
  /** Null unless it is rejected. */
  code: CrossListingCode | null;
  message: string;
};

/** An admitted native listing and the unparsed cross-listing submitted with it. */
export type RequestedCrossListing = { orderHash: Hex; status: OrderStatus; crossListing: unknown };

type ParseResult = Rejection<CrossListingCode> | ParsedCrossListing;

/** Submits the cross-listings of admitted listings. Returns the current status of each, in the order given. */
export async function submitCrossListings(
  market: Market,
  { chainId, now }: { chainId: ChainId; now: Date },
  requested: readonly RequestedCrossListing[],
): Promise<CrossListing[]> {
  if (requested.length === 0) return [];
  const hashes = [...new Set(requested.map((one) => one.orderHash))];
  const db = market.writer;
  const [listings, before] = await Promise.all([
    readAcceptedOrders(db, chainId, hashes),
    readCrossListings(db, chainId, hashes),
  ]);
  const parsed = requested.map((one): ParseResult => {
    const listing = listings.get(one.orderHash);
    if (listing === undefined) throw new Error(`the listing ${one.orderHash} is not in the log`);
    const body = parseOrderBody(one.crossListing, { chainId, envelope: {}, field: "opensea" });
    if (isRejection(body)) return reject("partner_requirements_unmet", body.message);
    const partnerOrderHash = orderHash(body.components);
    const { components } = listing;
    return {
      chainId,
      partnerOrderHash,
      body,
      now,
      listing: { orderHash: one.orderHash, components },
    };
  });
  const rejections = await appendNew(market, requested, parsed, before);
  const stored = await readCrossListings(db, chainId, hashes);
  return requested.map((one, index) => {
    const crossListing = parsed[index];
    const partnerOrderHash =
      crossListing === undefined || isRejection(crossListing)
        ? null
        : crossListing.partnerOrderHash;
    const rejection = rejections.get(index);
    if (rejection !== undefined) return rejected(partnerOrderHash, rejection);
    return statusOf(one, stored, partnerOrderHash, now);
  });
}

/** Appends the new ones that meet the partner's requirements. Returns the rejections of the others by index. */
async function appendNew(
  market: Market,
  requested: readonly RequestedCrossListing[],
  parsed: readonly ParseResult[],
  before: readonly StoredCrossListing[],
): Promise<Map<number, Rejection<CrossListingCode>>> {
  const checked = await Promise.all(
    requested.map(async (one, index) => {
      const crossListing = parsed[index];
      if (crossListing === undefined || isRejection(crossListing)) return crossListing;
      if (before.some((known) => isSame(known, crossListing))) return undefined;
      // Signature recovery takes milliseconds: yield to the event loop between two.
      await yieldToEventLoop();
      return checkForPartner(market, one, crossListing);
    }),
  );
  const facts = checked.flatMap((one) =>
    one === undefined || isRejection(one) ? [] : [crossListingSubmitted(one)],
  );
  if (facts.length > 0) await appendObservations(market.writer, facts);
  return new Map(checked.flatMap((one, index) => (isRejection(one) ? [[index, one]] : [])));
}

const isSame = (
  known: StoredCrossListing,
  { partnerOrderHash, listing }: ParsedCrossListing,
): boolean => known.partnerOrderHash === partnerOrderHash && known.orderHash === listing.orderHash;

async function checkForPartner(
  market: Market,
  { status }: RequestedCrossListing,
  crossListing: ParsedCrossListing,
): Promise<SubmittedCrossListing | Rejection<CrossListingCode>> {
  const partner = findPostingPartner(market.partners, crossListing.chainId);
  if (partner === null) {
    return reject("partner_unavailable", "Cross-listing is not available on this installation");
  }
  return isOpen(status) ? checkCrossListing(market, partner, crossListing) : listingEnded(status);
}

const isOpen = (status: OrderStatus): boolean => status === "active" || status === "inactive";

const listingEnded = (status: OrderStatus): RequirementsUnmet =>
  reject("partner_requirements_unmet", `The listing is ${status}: its cross-listing is not posted`);

function statusOf(
  { orderHash: listingHash, status }: RequestedCrossListing,
  stored: readonly StoredCrossListing[],
  partnerOrderHash: Hex | null,
  now: Date,
): CrossListing {
  const own = stored.filter((one) => one.orderHash === listingHash);
  const crossListing = own.find((one) => one.partnerOrderHash === partnerOrderHash);
  if (crossListing === undefined)
    throw new Error(`the cross-listing ${partnerOrderHash} is not in the log`);
  const { components, code, message } = crossListing;
  if (crossListing.status === "posted") {
    return {
      status: "posted",
      orderHash: partnerOrderHash,
      code: null,
      message: "Posted to the partner",
    };
  }
  if (crossListing.status === "rejected") {
    const knownCode = crossListingCodes.find((known) => known === code) ?? "partner_rejected";
    return rejected(partnerOrderHash, reject(knownCode, message ?? ""));
  }
  if (!isOpen(status)) return rejected(partnerOrderHash, listingEnded(status));
  if (components.endTime <= unixSeconds(now)) {
    return rejected(
      partnerOrderHash,
      reject("partner_requirements_unmet", "The cross-listing has ended"),
    );
  }
  if (own[0] !== crossListing) {
    const replaced = `The listing has a later cross-listing, ${own[0]?.partnerOrderHash}`;
    return rejected(partnerOrderHash, reject("partner_requirements_unmet", replaced));
  }
  const queued = "Queued to be posted to the partner";
  return { status: "queued", orderHash: partnerOrderHash, code: null, message: queued };
}

const rejected = (
  orderHash: Hex | null,
  { rejected: code, message }: Rejection<CrossListingCode>,
): CrossListing => ({
  status: "rejected",
  orderHash,
  code,
  message,
});
