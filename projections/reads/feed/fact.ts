import type { Address, Hex } from "viem";
import { factKind } from "../../log/fact-kind.ts";

/** A fact of the log as the feed reads it. `payload` is there for the kinds whose payload it uses. */
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
  /** The block's, or when the fact was recorded. */
  readonly timestamp: Date;
  readonly payload: unknown;
};

export const stateKinds = [factKind.block_retracted, factKind.block_readopted] as const;
export const orderKinds = [factKind.order_fulfilled, factKind.orders_matched] as const;
export const cancelKinds = [factKind.order_cancelled, factKind.counter_incremented] as const;
const moveKinds = [
  factKind.erc721_transfer,
  factKind.erc721_consecutive_transfer,
  factKind.erc1155_transfer,
] as const;

/** Events of a chain that the feed tells of. */
export const chainKinds = [...moveKinds, ...orderKinds, ...cancelKinds] as const;

/** The token of an order that was taken in, for its cancel. */
export type KnownOrder = {
  readonly position: bigint;
  readonly chainId: number;
  readonly orderHash: Hex;
  readonly contract: Address;
  readonly tokenId: bigint | null;
};
