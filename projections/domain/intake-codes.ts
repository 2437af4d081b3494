import { type Rejection, reject } from "./rejection.ts";

/** What the maker can do about a rejection. */
type Retry = "never" | "fix_and_resign" | "after_onchain_action" | "later";

type IntakeAnswer = { readonly status: number; readonly retry: Retry };

const fix = { status: 422, retry: "fix_and_resign" } as const;
const never = { status: 422, retry: "never" } as const;
const afterOnchainAction = { status: 422, retry: "after_onchain_action" } as const;
const later = { status: 422, retry: "later" } as const;

/**
 * Every code an order is rejected with. The checks run in the order of this table and the first that
 * fails answers, so that the same order always gets the same code.
 */
export const intakeCodes = {
  // envelope
  bad_structure: fix,
  unsupported_chain: fix,
  wrong_protocol: fix,
  pp_retired: { status: 409, retry: "never" },
  bulk_signature_not_allowed: fix,
  listings_paused: { status: 503, retry: "later" },
  offers_paused: { status: 503, retry: "later" },
  // shape
  unsupported_order_type: fix,
  zone_not_allowed: fix,
  wrong_conduit: fix,
  bundle_not_supported: fix,
  unsupported_item_type: fix,
  bad_quantity: fix,
  not_partially_fillable: fix,
  amount_not_divisible: fix,
  dynamic_price_not_supported: fix,
  private_order_not_supported: fix,
  unsupported_currency: fix,
  bad_criteria: fix,
  zero_price: fix,
  price_too_low: fix,
  price_too_high: fix,
  consideration_mismatch: fix,
  unexpected_consideration: fix,
  // fees
  fee_missing: fix,
  fee_wrong_recipient: fix,
  fee_wrong_amount: fix,
  royalty_missing: fix,
  royalty_wrong_recipient: fix,
  royalty_wrong_amount: fix,
  royalty_unexpected: fix,
  fees_too_high: fix,
  // time
  end_before_start: fix,
  not_started: later,
  order_expired: fix,
  duration_too_short: fix,
  duration_too_long: fix,
  // signature and counter
  missing_signature: fix,
  bad_signature_length: fix,
  bad_signature: fix,
  bad_bulk_proof: fix,
  contract_signature_invalid: fix,
  counter_stale: fix,
  counter_ahead: fix,
  // chain
  unknown_collection: never,
  token_standard_mismatch: fix,
  token_not_found: never,
  token_burned: never,
  not_owner: afterOnchainAction,
  insufficient_quantity: afterOnchainAction,
  not_approved: afterOnchainAction,
  insufficient_balance: afterOnchainAction,
  insufficient_allowance: afterOnchainAction,
  conduit_channel_closed: later,
  order_cancelled: fix,
  order_filled: fix,
  transfer_restricted: never,
  maker_blocked: never,
  self_offer: never,
  // book and service
  raise_requires_cancel: { status: 409, retry: "after_onchain_action" },
  too_many_open_orders: later,
  offer_exposure_exceeded: later,
  rate_limited: { status: 429, retry: "later" },
  rpc_unavailable: later,
} as const satisfies Record<string, IntakeAnswer>;

export type IntakeCode = keyof typeof intakeCodes;

/**
 * A rejection of one field of an order: `field` is a path such as `parameters.offer[0].token`.
 * Without `message` one is composed of the three values.
 */
export function rejectField(
  code: IntakeCode,
  at: { field: string; expected: string; actual: string; message?: string },
): Rejection<IntakeCode> {
  const { field, expected, actual } = at;
  const message = at.message ?? `${field} must be ${expected}, and is ${actual}`;
  return reject(code, message, [{ field, expected, actual, message }]);
}

/** `unread`: what could not be read; null: nothing could. */
export function rpcUnavailable(unread: string | null): Rejection<"rpc_unavailable"> {
  const message =
    unread === null ? "The chain is unavailable" : `The chain did not return ${unread}`;
  return reject("rpc_unavailable", `${message}; submit the order again later`);
}
