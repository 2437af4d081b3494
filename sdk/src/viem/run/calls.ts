import { type Clients, checkClients } from "../clients.ts";
import { callOfFixed, isFixed } from "../plan/fixed-call.ts";
import { type Call, isEnded, type Plan } from "../plan/plan.ts";
import type { RunOptions } from "./context.ts";
import { callOfSend } from "./steps/send-call.ts";

/**
 * The transactions that are left of a plan, in order and checked against it as when it runs: for a contract account, which
 * executes them by itself. What is approved already is left out.
 */
export async function callsOf(clients: Clients, plan: Plan, options: RunOptions): Promise<Call[]> {
  await checkClients(clients, plan);
  const run = { ...clients, plan, options, store: async (change: () => void) => change() };
  const calls: Call[] = [];
  for (const step of structuredClone(plan.steps)) {
    if (isEnded(step) || (step.kind === "approve" && step.isApproved)) continue;
    if (isFixed(step)) calls.push(callOfFixed(step));
    else if (step.kind === "send") calls.push(await callOfSend(run, step));
  }
  return calls;
}
