import type { Address, Hex } from "viem";

/** NFTs sold for one price. More than one item is a bundle. */
export type Trade = {
  readonly items: readonly TradedItem[];
  /** The zero address is the native currency. */
  readonly currency: Address;
  /** What the buyer pays, fees included. */
  readonly totalWei: bigint;
  /** The part of it that does not reach the seller. */
  readonly fees: readonly FeePayment[];
  /** Side of the order that was made first. */
  readonly side: "ask" | "bid";
  readonly exchange: Address;
  readonly protocolVersion: string;
  /** Of the order that was made first; null: the exchange has none. */
  readonly orderHash: Hex | null;
  readonly logIndex: number;
  /** Contracts named by its orders that may belong to a marketplace. */
  readonly zones: readonly Address[];
};

type TradedItem = {
  readonly contract: Address;
  /** Decimal. */
  readonly tokenId: string;
  readonly units: bigint;
  readonly seller: Address;
  readonly buyer: Address;
};

export type FeePayment = { readonly recipient: Address; readonly wei: bigint };
