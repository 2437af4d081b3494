import type { Address, Hex } from "viem";
import type { ChainId } from "../../abis/deployments.ts";

/** The block whose end readings tell of. `timestamp` is the block's. */
export type ReadingBasis = { number: bigint; hash: Hex; timestamp: Date };

/** What can be asked of a chain about orders; each names its subject. Addresses in lower case. */
export type ChainQuestion =
  | { kind: "order_status_read"; orderHash: Hex }
  | { kind: "counter_read"; maker: Address }
  | { kind: "approval_read"; contract: Address; owner: Address }
  | { kind: "owner_read"; contract: Address; tokenId: bigint }
  | { kind: "units_read"; contract: Address; tokenId: bigint; owner: Address }
  | { kind: "balance_read"; currency: Address; owner: Address }
  | { kind: "allowance_read"; currency: Address; owner: Address }
  | { kind: "transfer_read"; contract: Address; tokenId: bigint; owner: Address }
  | { kind: "signature_read"; orderHash: Hex; maker: Address }
  | { kind: "channel_read" };

/** A question and its answer: what a chain said at the end of a block. */
export type ChainReading =
  | { kind: "order_status_read"; orderHash: Hex; cancelled: boolean; filled: bigint; size: bigint }
  | { kind: "counter_read"; maker: Address; counter: bigint }
  | { kind: "approval_read"; contract: Address; owner: Address; approved: boolean }
  /** ERC-721; null: no such token. */
  | { kind: "owner_read"; contract: Address; tokenId: bigint; owner: Address | null }
  /** ERC-1155. */
  | { kind: "units_read"; contract: Address; tokenId: bigint; owner: Address; units: bigint }
  | { kind: "balance_read"; currency: Address; owner: Address; wei: bigint }
  /** To the exchange itself. */
  | { kind: "allowance_read"; currency: Address; owner: Address; wei: bigint }
  /** Whether the conduit may move the token, approval and ownership given. */
  | { kind: "transfer_read"; contract: Address; tokenId: bigint; owner: Address; allowed: boolean }
  /** Whether a contract takes the signature for its own (EIP-1271). */
  | { kind: "signature_read"; orderHash: Hex; maker: Address; valid: boolean }
  | { kind: "channel_read"; open: boolean };

export type ChainReadings = {
  chainId: ChainId;
  basis: ReadingBasis;
  readings: readonly ChainReading[];
};
