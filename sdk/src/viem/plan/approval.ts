import { encodeFunctionData } from "viem";
import { tokenAbi } from "../abis.ts";
import type { ApproveStep, Call } from "./plan.ts";

/** The transaction of an approval. */
export function callOfApproval({ token, operator, amountWei }: ApproveStep): Call {
  const abi = tokenAbi;
  const data =
    amountWei === null
      ? encodeFunctionData({ abi, functionName: "setApprovalForAll", args: [operator, true] })
      : encodeFunctionData({ abi, functionName: "approve", args: [operator, BigInt(amountWei)] });
  return { to: token, data, valueWei: 0n };
}
