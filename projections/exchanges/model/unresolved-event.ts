/** Why an event that announces a trade makes no sale, in words for an operator. */
export const unresolvedReasons = {
  undecodable: "its arguments are not what the exchange emits",
  unknown_type: "a packed word, an order type or an asset class has a value without a meaning",
  unknown_pool: "the contract is none of the exchange's pools",
  price_unknown: "no log tells what was paid",
  currency_unknown: "neither the exchange nor the transfers tell the coin that was paid",
  zero_price: "nothing was paid",
  price_out_of_range: "the price is above 10^27 wei, or less than its fees",
  units_out_of_range: "it sells no unit of a token, or more than a token has",
  transfer_missing: "the transaction moved no such token as the event says",
  transfer_mismatch: "the token moved between other parties than the event names",
  duplicate: "another event told the same trade",
} as const;
export type UnresolvedReason = keyof typeof unresolvedReasons;

/** An event that announces a trade and makes no sale. */
export type UnresolvedEvent = { readonly unresolved: UnresolvedReason; readonly logIndex: number };

export function isUnresolved<Other extends object>(
  fill: Other | UnresolvedEvent,
): fill is UnresolvedEvent {
  return "unresolved" in fill;
}

/**
 * What an event cannot be read for. Thrown while it is translated, that event alone is unresolved. No `Error`:
 * where it was thrown nobody asks, and recording that for each of many cost as much as translating them.
 */
export class UnresolvableEvent {
  readonly reason: UnresolvedReason;

  constructor(reason: UnresolvedReason) {
    this.reason = reason;
  }
}
