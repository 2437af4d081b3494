import type { Address } from "viem";
import type { ChainId } from "#chains/index.ts";

/** Limits on price, units and time of every order. Published by `GET /v1/orders/params`. */
export type OrderBounds = {
  /** Per unit. */
  minPriceWei: bigint;
  maxPriceWei: bigint;
  /** Units of an ERC-1155 token. */
  maxQuantity: bigint;
  minDurationSeconds: number;
  maxDurationSeconds: number;
  /** How far in the future an order may start. */
  maxStartDelaySeconds: number;
  clockSkewSeconds: number;
};

export const orderBounds: OrderBounds = {
  minPriceWei: 10_000n,
  maxPriceWei: 10n ** 27n,
  // JSON's numbers are exact up to here; the exchange's fractions of 120 bits reach further.
  maxQuantity: 2n ** 53n - 1n,
  minDurationSeconds: 600,
  maxDurationSeconds: 180 * 86_400,
  maxStartDelaySeconds: 0,
  clockSkewSeconds: 60,
};

/** The market's terms on a chain. `currency` is the wrapped native one, in which bids pay. */
export type MarketTerms = {
  chainId: ChainId;
  fee: { recipient: Address; bps: number };
  currency: Address;
  bounds: OrderBounds;
};
