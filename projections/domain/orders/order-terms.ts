import type { Address, Hex } from "viem";
import type { ChainId } from "#chains/index.ts";
import type { Leg } from "../seaport/draft-components.ts";
import type { OrderComponents } from "../seaport/order-components.ts";

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

/** A trait that a token must have: a value as text, or a number within bounds, both inclusive. A type in any spelling. */
export type CriteriaTrait =
  | { type: string; value: string }
  | { type: string; min: string | null; max: string | null };

/** What bids are for: one token, any of a contract, those that had some traits, or those of a list. */
export const bidKinds = ["single-token", "collection", "trait", "token-list"] as const;
export type BidKind = (typeof bidKinds)[number];

/** The tokens of its collection that a bid takes, by Seaport's criteria. */
export type Criteria = {
  /** Merkle root of the token ids. */
  root: Hex;
  /** All of which the tokens had when the bid was submitted; null: the ids were named one by one. */
  traits: readonly CriteriaTrait[] | null;
};

/** What an order trades, derived from its components when it is accepted. Wei are per unit. */
export type TradeTerms = {
  side: "ask" | "bid";
  contract: Address;
  standard: "erc721" | "erc1155";
  /** Null for a bid on several tokens of the collection: every one, or those of `criteria`. */
  tokenId: bigint | null;
  criteria?: Criteria;
  quantity: bigint;
  /** What the buyer of a listing or the bidder pays, for one unit. */
  unitPriceWei: bigint;
  sellerNetWei: bigint;
  fees: readonly TradeFee[];
};

export type TradeFee = { recipient: Address; unitWei: bigint; kind: "service" | "royalty" };

/** An order as it was submitted: well typed, otherwise unchecked. Addresses in lower case. */
export type OrderBody = {
  components: OrderComponents;
  signature: Hex;
  /** Null when it was not sent. */
  totalOriginalConsiderationItems: bigint | null;
};

/** An order of a supported shape. Fees, times and signature are not validated yet. */
export type ParsedOrder = {
  side: TradeTerms["side"];
  orderHash: Hex;
  components: OrderComponents;
  signature: Hex;
  /** The offerer. */
  maker: Address;
  contract: Address;
  standard: TradeTerms["standard"];
  /** Null for a bid on several tokens of the collection: every one, or those of `criteria`. */
  tokenId: bigint | null;
  criteria?: Criteria;
  quantity: bigint;
  unitPriceWei: bigint;
  /** Per unit: payments to others than the seller, in the order signed. */
  feeLegs: readonly Leg[];
  /** Per unit: the price less `feeLegs`. Not positive when a bid's fee legs exceed its amount. */
  sellerNetWei: bigint;
};

/** What is validated against chain state: a signed order, or one that its maker may sign. */
export type OrderIntent = Pick<
  ParsedOrder,
  "side" | "maker" | "contract" | "standard" | "tokenId" | "quantity" | "unitPriceWei"
>;
