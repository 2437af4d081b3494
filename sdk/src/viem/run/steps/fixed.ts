import { callOfFixed } from "../../plan/fixed-call.ts";
import type { ApproveStep, FixedStep, RevokeStep } from "../../plan/plan.ts";
import { demandOwnAccount } from "../../plan/steps.ts";
import { readAllowance, readIsApproved } from "../../read-approvals.ts";
import { sendTogether } from "../batch.ts";
import type { Run } from "../context.ts";
import { sendOnce } from "../transaction.ts";

/** Approves, revokes or wraps, unless the chain says that nothing is to be done. */
export async function runFixed(run: Run, step: FixedStep): Promise<"done" | "skipped"> {
  const isBegun = step.transaction !== undefined || step.batch !== undefined;
  if (!isBegun && (await isNeedless(run, step))) return "skipped";
  demandOwnAccount(run);
  if (await sendTogether(run, step)) return "done";
  await sendOnce(run, step, async () => callOfFixed(step));
  return "done";
}

async function isNeedless(run: Run, step: FixedStep): Promise<boolean> {
  if (step.kind === "wrap") return false;
  const { token, operator } = step;
  const isOfAll = step.kind === "approve" ? step.amountWei === null : step.takes === "tokens";
  if (isOfAll) return (await readIsApproved(run, token, operator)) === (step.kind === "approve");
  const allowedWei = await readAllowance(run, token, operator);
  return step.kind === "approve" ? allowedWei >= amountOf(step) : allowedWei === amountOf(step);
}

const amountOf = (step: ApproveStep | RevokeStep) =>
  step.kind === "approve" ? BigInt(step.amountWei ?? 0) : 0n;
