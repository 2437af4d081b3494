import type { Address } from "viem";
import type { ChainId } from "../../../../abis/deployments.ts";

/** Which listings somebody wants to buy, and how. */
export type BuyRequest = {
  chainId: ChainId;
  askIds: readonly string[];
  /** Who receives the token; null: whoever sends the transaction. */
  buyer: Address | null;
  /** Null: all units left. */
  units: bigint | null;
  /** Most that all units may cost. */
  maxWei: bigint | null;
};
