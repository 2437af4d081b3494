import { encodeFunctionData, type Hex } from "viem";
import { tokenAbi } from "../../abis.ts";
import type { ApproveStep } from "../../plan/plan.ts";
import { demandOwnAccount } from "../../plan/steps.ts";
import { readAllowance, readIsApproved } from "../../read-approvals.ts";
import type { Run } from "../context.ts";
import { sendOnce } from "../transaction.ts";

/** Approves unless the chain says that it is approved already. */
export async function runApprove(run: Run, step: ApproveStep): Promise<"done" | "skipped"> {
  if (step.transaction === undefined && (await isApproved(run, step))) return "skipped";
  demandOwnAccount(run);
  await sendOnce(run, step, async () => ({ to: step.token, data: dataOf(step), valueWei: 0n }));
  return "done";
}

function dataOf({ operator, amountWei }: ApproveStep): Hex {
  const abi = tokenAbi;
  if (amountWei === null)
    return encodeFunctionData({ abi, functionName: "setApprovalForAll", args: [operator, true] });
  const args = [operator, BigInt(amountWei)] as const;
  return encodeFunctionData({ abi, functionName: "approve", args });
}

async function isApproved(run: Run, { token, operator, amountWei }: ApproveStep): Promise<boolean> {
  if (amountWei === null) return readIsApproved(run, token, operator);
  return (await readAllowance(run, token, operator)) >= BigInt(amountWei);
}
