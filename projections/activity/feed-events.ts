import type { Address, Hex } from "viem";
import { saleFactKinds } from "../exchanges/exchanges.ts";
import { factKind } from "../log/fact-kinds.ts";
import { bookEventTypes, type OrderEvent } from "../orders/read-order-events.ts";

export const eventTypes = [
  "mint",
  "transfer",
  "burn",
  "sale",
  "listing",
  "offer",
  "cancel",
  "metadata",
  ...bookEventTypes,
  "retracted",
] as const;

export type FeedEventType = (typeof eventTypes)[number];

/** Id of an event, or, with ordinal 0, the point before the first event of a position. */
export type EventId = { readonly position: bigint; readonly ordinal: number };

/** An event without its id. Wei of `priceWei` are per unit. */
export type EventContent = {
  readonly type: Exclude<FeedEventType, "retracted">;
  readonly chainId: number;
  /** The NFT contract; null: unknown order, or all orders of a maker. */
  readonly contract: Address | null;
  readonly tokenId: bigint | null;
  readonly quantity: bigint | null;
  /** Giver, seller, or the order's maker. */
  readonly from: Address | null;
  readonly to: Address | null;
  readonly priceWei: bigint | null;
  readonly totalWei: bigint | null;
  /** The zero address is the native currency. */
  readonly currency: Address | null;
  readonly orderHash: Hex | null;
  readonly sale: SaleContent | null;
  /** What the order book has since; null: of what happened. */
  readonly order: OrderContent | null;
  readonly startsAt: Date | null;
  readonly expiresAt: Date | null;
  readonly txHash: Hex | null;
  readonly logIndex: number | null;
  /** Among the tokens of its log; null: of a sale, or of no log. */
  readonly subIndex: number | null;
  readonly blockNumber: bigint | null;
  readonly blockHash: Hex | null;
  readonly timestamp: Date;
};

export type OrderContent = Pick<OrderEvent, "side" | "status" | "reason" | "terms">;

type SaleContent = {
  readonly saleId: Hex;
  readonly side: "ask" | "bid";
  readonly marketplace: string;
  readonly protocol: { readonly name: string; readonly version: string; readonly address: Address };
  readonly via: Address | null;
  readonly bundleSize: number | null;
};

export type FeedEvent = EventId & {
  readonly content: EventContent;
  /** The event that is retracted, and why: its block was retracted, or more facts made other sales of its transaction. */
  readonly retracts: (EventId & { readonly reason: "reorg" | "correction" }) | null;
  /** Emitted again because its block was readopted. */
  readonly isReadopted: boolean;
};

export function formatEventId({ position, ordinal }: EventId): string {
  return `${position}-${ordinal}`;
}

/** Undefined for text that is no id. Digits are those of the log's positions. */
export function parseEventId(text: string): EventId | undefined {
  const [, position, ordinal] = /^(\d{1,18})-(\d{1,9})$/.exec(text) ?? [];
  if (position === undefined || ordinal === undefined) return undefined;
  return { position: BigInt(position), ordinal: Number(ordinal) };
}

export function isAfter(one: EventId, other: EventId): boolean {
  if (one.position !== other.position) return one.position > other.position;
  return one.ordinal > other.ordinal;
}

/** The point after all events up to a position. */
export function idAfterPosition(position: bigint): EventId {
  return { position: position + 1n, ordinal: 0 };
}

/** A fact of the log. `payload` is null for kinds whose payload the feed does not use. */
export type FeedFact = {
  readonly position: bigint;
  readonly kind: number;
  readonly chainId: number;
  readonly blockId: bigint | null;
  readonly blockNumber: bigint | null;
  readonly blockHash: Hex | null;
  readonly txHash: Hex | null;
  readonly transactionIndex: number | null;
  readonly logIndex: number | null;
  readonly subIndex: number | null;
  readonly contract: Address | null;
  readonly tokenId: bigint | null;
  readonly amount: bigint | null;
  readonly from: Address | null;
  readonly to: Address | null;
  readonly orderHash: Hex | null;
  /** The block's; without a block when the fact was recorded. */
  readonly timestamp: Date;
  readonly payload: unknown;
};

export const stateKinds = [factKind.block_retracted, factKind.block_readopted] as const;
export const feedSaleKinds = saleFactKinds.map((kind) => factKind[kind]);
export const cancelKinds = [factKind.order_cancelled, factKind.counter_incremented] as const;
const transferKinds = [
  factKind.erc721_transfer,
  factKind.erc721_consecutive_transfer,
  factKind.erc1155_transfer,
] as const;

/** Kinds of fetches that the feed shows: those that took the place of an earlier one. */
export const fetchKinds = [
  factKind.token_metadata_fetched,
  factKind.contract_metadata_fetched,
] as const;

/** Kinds of chain events that the feed shows. */
export const chainKinds = [...transferKinds, ...feedSaleKinds, ...cancelKinds];

/** An order that was submitted, or that a partner showed, for its cancel. */
export type KnownOrder = {
  readonly position: bigint;
  readonly chainId: number;
  readonly orderHash: Hex;
  readonly contract: Address;
  readonly tokenId: bigint | null;
};
