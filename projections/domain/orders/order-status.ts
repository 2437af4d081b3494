/** States of a listing or a bid on the wire. */
export const orderStatuses = ["active", "inactive", "filled", "expired", "cancelled"] as const;
export type OrderStatus = (typeof orderStatuses)[number];

export type OrderFacts = {
  isFilled: boolean;
  isCancelled: boolean;
  isExpired: boolean;
  /** Not fillable now, although neither ended nor cancelled; has a reason. */
  isBlocked: boolean;
};

/** First match wins. */
export const statusPrecedence = [
  ["filled", "isFilled"],
  ["cancelled", "isCancelled"],
  ["expired", "isExpired"],
  ["inactive", "isBlocked"],
] as const satisfies readonly (readonly [OrderStatus, keyof OrderFacts])[];

export function orderStatus(facts: OrderFacts): OrderStatus {
  return statusPrecedence.find(([, fact]) => facts[fact])?.[0] ?? "active";
}

/** Why a listing is inactive; the first that applies is shown. */
export const listingReasons = [
  "not_started",
  "pp_retired",
  "not_owner",
  "not_approved",
  "conduit_channel_closed",
  "contract_signature_invalid",
  "transfer_restricted",
  "partner_invalidated",
  "superseded",
] as const;
export type ListingReason = (typeof listingReasons)[number];

/** Why a bid is inactive; the first that applies is shown. */
export const bidReasons = [
  "not_started",
  "token_burned",
  "insufficient_balance",
  "insufficient_allowance",
  "contract_signature_invalid",
  "transfer_restricted",
] as const;
export type BidReason = (typeof bidReasons)[number];
