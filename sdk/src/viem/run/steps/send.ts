import type { SendStep } from "../../plan/plan.ts";
import { demandOwnAccount } from "../../plan/steps.ts";
import { sendTogether } from "../batch.ts";
import type { Run } from "../context.ts";
import { sendOnce } from "../transaction.ts";
import { callOfSend } from "./send-call.ts";

export async function runSend(run: Run, step: SendStep): Promise<"done"> {
  demandOwnAccount(run);
  if (await sendTogether(run, step)) return "done";
  await sendOnce(run, step, () => callOfSend(run, step));
  return "done";
}
