import type { Address, Hex } from "viem";

export const eventTypes = [
  "mint",
  "transfer",
  "burn",
  "sale",
  "listing",
  "offer",
  "cancel",
  "retracted",
] as const;

export type EventType = (typeof eventTypes)[number];

/** A place in the feed: of an event, or before the first event of a position (ordinal 0). */
export type EventId = { readonly position: bigint; readonly ordinal: number };

/** What an event tells, whenever it is told. Wei of `priceWei` are per unit. */
export type Told = {
  readonly type: Exclude<EventType, "retracted">;
  readonly chainId: number;
  /** The NFT contract; null where an order's is not known, or all orders of a maker are meant. */
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
  readonly sale: ToldSale | null;
  readonly startsAt: Date | null;
  readonly expiresAt: Date | null;
  readonly txHash: Hex | null;
  readonly logIndex: number | null;
  readonly blockNumber: bigint | null;
  readonly blockHash: Hex | null;
  readonly timestamp: Date;
};

type ToldSale = {
  readonly saleId: Hex;
  readonly side: "ask" | "bid";
  readonly marketplace: string;
  readonly bundleSize: number | null;
};

export type FeedEvent = EventId & {
  readonly told: Told;
  /** The event that is taken back, and why: its block was dropped, or its transaction turned out to be another sale. */
  readonly retracts: (EventId & { readonly reason: "reorg" | "correction" }) | null;
  /** Told again because its block came back. */
  readonly isAgain: boolean;
};

export function formatEventId({ position, ordinal }: EventId): string {
  return `${position}-${ordinal}`;
}

/** Undefined for what is no id. Digits are those of the log's positions. */
export function parseEventId(text: string): EventId | undefined {
  const [, position, ordinal] = /^(\d{1,18})-(\d{1,9})$/.exec(text) ?? [];
  if (position === undefined || ordinal === undefined) return undefined;
  return { position: BigInt(position), ordinal: Number(ordinal) };
}

export function isAfter(one: EventId, other: EventId): boolean {
  if (one.position !== other.position) return one.position > other.position;
  return one.ordinal > other.ordinal;
}

/** The place behind all events up to a position. */
export function placeBehind(position: bigint): EventId {
  return { position: position + 1n, ordinal: 0 };
}
