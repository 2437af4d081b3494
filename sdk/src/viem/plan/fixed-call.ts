import { type Address, encodeFunctionData } from "viem";
import { tokenAbi } from "../abis.ts";
import type { ApproveStep, Call, FixedStep, RevokeStep } from "./plan.ts";

/** The transaction of a step, which is known as soon as the plan is made. */
export function callOfFixed(step: FixedStep): Call {
  if (step.kind === "wrap") {
    const data = encodeFunctionData({ abi: tokenAbi, functionName: "deposit" });
    return { to: step.token, data, valueWei: BigInt(step.costs.wei) };
  }
  return { to: step.token, data: allowanceData(step), valueWei: 0n };
}

function allowanceData(step: ApproveStep | RevokeStep) {
  const { operator } = step;
  const isGiven = step.kind === "approve";
  if (isGiven ? step.amountWei === null : step.takes === "tokens")
    return encodeFunctionData({
      abi: tokenAbi,
      functionName: "setApprovalForAll",
      args: [operator, isGiven],
    });
  const wei = isGiven ? BigInt(step.amountWei ?? 0) : 0n;
  const args: readonly [Address, bigint] = [operator, wei];
  return encodeFunctionData({ abi: tokenAbi, functionName: "approve", args });
}

export const isFixed = (step: { readonly kind: string }): step is FixedStep =>
  step.kind === "approve" || step.kind === "revoke" || step.kind === "wrap";
