import type { Address, Hex } from "viem";
import type { TokenTransfer } from "#projections/facts/token-transfer.ts";
import type { UnresolvedEvent } from "./unresolved-event.ts";

/** What an event that announces a trade came to. */
export type Fill = Trade | UnresolvedEvent;

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

export type NftStandard = "erc721" | "erc1155";

export type TradedItem = {
  readonly contract: Address;
  /** Decimal. */
  readonly tokenId: string;
  /** Absent: that of the transfer, else ERC-721. */
  readonly standard?: NftStandard;
  readonly units: bigint;
  readonly seller: Address;
  /** Who the exchange gave it to. Where the transfers of the transaction are known, they tell who has it in the end. */
  readonly buyer: Address;
  /** Who took the trade for the buyer, where the event names both. */
  readonly via?: Address;
  /** The token stays with somebody else on the buyer's behalf, as a loan's collateral does. */
  readonly isHeldForBuyer?: true;
  /**
   * The transfer, of the transaction's `transfers`, that delivered it; absent: found by the parties. One transfer
   * delivers one sale.
   */
  readonly transfer?: TokenTransfer;
};

export type FeePayment = { readonly recipient: Address; readonly wei: bigint };
