import type { Address, Hex } from "viem";
import type { TokenTransfer } from "./token-transfer.ts";

/** Payload of `exchange_event`: an event of an exchange as it was emitted. */
export type ExchangeEvent = {
  /** Name of the source in the exchange's entry. */
  readonly source: string;
  readonly event: string;
  /** Integers are decimal strings, bytes and addresses lower-case hex. */
  readonly args: Readonly<Record<string, unknown>>;
  /** The transaction's, where the source stores it: sender, called contract, last four bytes of the calldata. */
  readonly sender: Address | null;
  readonly target: Address | null;
  readonly calldataTail: Hex | null;
  /** The transaction's, in log order: on the first of its events that the source stores with transfers, or on each. */
  readonly transfers?: readonly TokenTransfer[];
  /** Of an event that any contract may emit: who created the contract, if an exchange's factory did. */
  readonly factory?: Address | null;
  /**
   * Of an event of such a contract that is paid in a coin of its own, as the contract says: the zero address for ether,
   * null: it says none. Absent: it was not asked.
   */
  readonly coin?: Address | null;
  /** The bid that a sale of CryptoPunks took, where its event leaves it out: the punk's last one before it. */
  readonly bid?: { readonly bidder: Address; readonly wei: string };
};
