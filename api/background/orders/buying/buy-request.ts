import type { Address } from "viem";
import type { ChainId } from "#chains/index.ts";

/** A request to buy listings. */
export type BuyRequest = {
  chainId: ChainId;
  askIds: readonly string[];
  /** Receives the token; null: the sender of the transaction. */
  buyer: Address | null;
  /** Null: all units left. */
  units: bigint | null;
  /** Most that all units may cost. */
  maxWei: bigint | null;
  /** Who asks, and may use a part of what a partner gives. */
  caller: string;
};
