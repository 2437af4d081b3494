import type { Address, Hex } from "viem";
import { saleFactKinds } from "#projections/exchanges/exchanges.ts";
import { factKind } from "#projections/log/fact-kinds.ts";

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
export const saleKinds = saleFactKinds.map((kind) => factKind[kind]);
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
export const chainKinds = [...transferKinds, ...saleKinds, ...cancelKinds];

/** An order that was submitted, or that a partner showed, for its cancel. */
export type KnownOrder = {
  readonly position: bigint;
  readonly chainId: number;
  readonly orderHash: Hex;
  readonly contract: Address;
  readonly tokenId: bigint | null;
};
