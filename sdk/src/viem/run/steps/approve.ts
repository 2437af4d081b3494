import { callOfApproval } from "../../plan/approval.ts";
import type { ApproveStep } from "../../plan/plan.ts";
import { demandOwnAccount } from "../../plan/steps.ts";
import { readAllowance, readIsApproved } from "../../read-approvals.ts";
import type { Run } from "../context.ts";
import { sendOnce } from "../transaction.ts";

/** Approves unless the chain says that it is approved already. */
export async function runApprove(run: Run, step: ApproveStep): Promise<"done" | "skipped"> {
  if (step.transaction === undefined && (await isApproved(run, step))) return "skipped";
  demandOwnAccount(run);
  await sendOnce(run, step, async () => callOfApproval(step));
  return "done";
}

async function isApproved(run: Run, { token, operator, amountWei }: ApproveStep): Promise<boolean> {
  if (amountWei === null) return readIsApproved(run, token, operator);
  return (await readAllowance(run, token, operator)) >= BigInt(amountWei);
}
