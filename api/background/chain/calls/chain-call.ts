import type { Address, Hex } from "viem";
import type { ContractCall } from "../contract-calls.ts";

/**
 * A static call. A call with a sender is never joined, as Multicall3 would be the sender. `payer`: the contract whose code
 * decides what the call costs, where that is not the called one. `value`: ether that the sender pays, whether or not it
 * has it. `code`: in place of that of the called account.
 */
export type SenderCall = ContractCall & {
  from?: Address;
  gas?: bigint;
  payer?: Address;
  value?: bigint;
  code?: Hex;
};

/** A call, or the code of an address. */
export type ChainCall = SenderCall | { readonly codeOf: Address };

/**
 * `reverted`: the revert data, `0x` if unknown. `isTooLarge`: more than `maxReturnedBytes`, so that nothing of it was
 * read. `isOutOfGas`: it needs more gas than it got, which says nothing about its result. Undefined: no result from the
 * node.
 */
export type CallOutcome =
  | { returned: Hex }
  | { reverted: Hex; isTooLarge?: true; isOutOfGas?: true }
  | undefined;

export function callKey(call: ChainCall): string {
  if ("codeOf" in call) return call.codeOf;
  return `${call.from ?? ""}>${call.to}:${call.data}:${call.value ?? ""}:${call.code ?? ""}`;
}
