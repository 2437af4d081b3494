import type { Address, Hex } from "viem";
import type { ChainId } from "#chains/index.ts";

/** The block at whose end readings were made, and its timestamp. */
export type ReadingBasis = { number: bigint; hash: Hex; timestamp: Date };

/** A query about orders to a chain, by subject. Addresses in lower case. */
export type ReadingSubject =
  | { kind: "order_status_read"; orderHash: Hex }
  | { kind: "counter_read"; maker: Address }
  | { kind: "approval_read"; contract: Address; owner: Address }
  | { kind: "token_approval_read"; contract: Address; tokenId: bigint }
  | { kind: "owner_read"; contract: Address; tokenId: bigint }
  | { kind: "units_read"; contract: Address; tokenId: bigint; owner: Address }
  | { kind: "balance_read"; currency: Address; owner: Address }
  | { kind: "allowance_read"; currency: Address; owner: Address }
  | { kind: "transfer_read"; contract: Address; tokenId: bigint; owner: Address }
  | { kind: "signature_read"; orderHash: Hex; maker: Address }
  | { kind: "recipients_read"; orderHash: Hex }
  | { kind: "channel_read" };

/** A query and its answer at the end of a block. */
export type ChainReading =
  | { kind: "order_status_read"; orderHash: Hex; cancelled: boolean; filled: bigint; size: bigint }
  | { kind: "counter_read"; maker: Address; counter: bigint }
  | { kind: "approval_read"; contract: Address; owner: Address; approved: boolean }
  /** ERC-721: of the token alone, whoever owns it. */
  | { kind: "token_approval_read"; contract: Address; tokenId: bigint; approved: boolean }
  /** ERC-721; null: no such token. */
  | { kind: "owner_read"; contract: Address; tokenId: bigint; owner: Address | null }
  /** ERC-1155. */
  | { kind: "units_read"; contract: Address; tokenId: bigint; owner: Address; units: bigint }
  | { kind: "balance_read"; currency: Address; owner: Address; wei: bigint }
  /** To the exchange itself. */
  | { kind: "allowance_read"; currency: Address; owner: Address; wei: bigint }
  /** Whether the collection lets the conduit transfer the token, given approval and ownership. */
  | { kind: "transfer_read"; contract: Address; tokenId: bigint; owner: Address; allowed: boolean }
  /** Whether a contract confirms the signature (ERC-1271). */
  | { kind: "signature_read"; orderHash: Hex; maker: Address; valid: boolean }
  /**
   * Whether the contracts that the order pays, or delivers ERC-1155 units to, take it. `recipients`: these contracts;
   * `refusing`: the first that does not, or null.
   */
  | {
      kind: "recipients_read";
      orderHash: Hex;
      recipients: readonly Address[];
      refusing: Address | null;
    }
  | { kind: "channel_read"; open: boolean };

export type ChainReadings = {
  chainId: ChainId;
  basis: ReadingBasis;
  readings: readonly ChainReading[];
};
