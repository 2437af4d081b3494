import { MarketError } from "../../market-error.ts";
import { type Clients, checkClients } from "../clients.ts";
import { isEnded, type Plan, type Step, stepOf } from "../plan/plan.ts";
import { WalletError } from "../wallet-error.ts";
import type { Run, RunOptions } from "./context.ts";
import { runConfirm } from "./steps/confirm.ts";
import { runFixed } from "./steps/fixed.ts";
import { runPost } from "./steps/post.ts";
import { runSend } from "./steps/send.ts";
import { runSign } from "./steps/sign.ts";
import { runSync } from "./steps/sync.ts";

/**
 * Carries out what is not done yet; the plan as it is then. Throws what stopped it, after the step was marked failed.
 * Of several purchases each can fail without the others; when the API stops them all, what was bought before is
 * returned, and not hidden behind an error.
 */
export async function runPlan(clients: Clients, given: Plan, options: RunOptions): Promise<Plan> {
  const plan = structuredClone(given);
  await checkClients(clients, plan);
  const failures = await runSteps(clients, plan, options);
  if (failures.length > 0 && !hasBought(plan)) throw failures[0];
  return plan;
}

/** Why purchases failed; throws what stopped the plan. */
async function runSteps(clients: Clients, plan: Plan, options: RunOptions): Promise<unknown[]> {
  const failures: unknown[] = [];
  for (const step of plan.steps) {
    if (!isDue(plan, step)) continue;
    options.signal?.throwIfAborted();
    try {
      await runStep(clients, plan, step, options);
    } catch (error) {
      if (endsSweep(plan, step, error)) break;
      if (!isOfOnePurchase(plan, step, error)) throw error;
      failures.push(error);
    }
  }
  return failures;
}

/** Not done yet, and what it follows is. */
const isDue = (plan: Plan, step: Step) =>
  !isEnded(step) && (!("of" in step) || isEnded(stepOf(plan, step.of)));

async function runStep(
  clients: Clients,
  plan: Plan,
  step: Step,
  options: RunOptions,
): Promise<void> {
  const store = async (change: () => void) => {
    change();
    await options.onStep?.(structuredClone(step), structuredClone(plan));
  };
  const run: Run = { ...clients, plan, options, store };
  await store(() => {
    step.state = "in_progress";
    delete step.error;
  });
  try {
    const state = await carryOut(run, step);
    await store(() => {
      step.state = state;
    });
  } catch (error) {
    await store(() => {
      step.state = "failed";
      step.error = describe(error);
    });
    throw error;
  }
}

function carryOut(run: Run, step: Step): Promise<"done" | "skipped"> {
  switch (step.kind) {
    case "approve":
    case "revoke":
    case "wrap":
      return runFixed(run, step);
    case "sign":
      return runSign(run, step);
    case "post":
      return runPost(run, step);
    case "send":
      return runSend(run, step);
    case "confirm":
      return runConfirm(run, step);
    case "sync":
      return runSync(run, step);
  }
}

/**
 * Whether the others of a sweep can go on: the listing is gone, and nothing is wrong with the caller or the API; or it
 * is bought, and only the order book could not be asked to see it.
 */
function isOfOnePurchase(plan: Plan, step: Step, error: unknown): boolean {
  const isSweep = plan.steps.filter(isPurchase).length > 1;
  const follows = step.kind === "confirm" || step.kind === "sync";
  if (!isPurchase(follows ? stepOf(plan, step.of) : step)) return false;
  if (step.kind === "sync") return error instanceof MarketError;
  if (!isSweep) return false;
  if (error instanceof MarketError)
    return [404, 409, 422].includes(error.status) || ofPartner.has(error.code);
  return error instanceof WalletError && (error.code === "reverted" || error.code === "blocked");
}

/** Whether the API stops the others too, and there is something to tell beside the error. */
const endsSweep = (plan: Plan, step: Step, error: unknown): boolean =>
  isPurchase(step) &&
  error instanceof MarketError &&
  !isOfOnePurchase(plan, step, error) &&
  hasBought(plan);

/** A partner is away, and others' listings are not. */
const ofPartner: ReadonlySet<string> = new Set(["upstream_error", "partner_rate_limited"]);

const isPurchase = (step: Step) =>
  step.kind === "send" && (step.action.name === "buy" || step.action.name === "sweep");

const hasBought = (plan: Plan) =>
  plan.steps.some((step) => isPurchase(step) && step.state === "done");

function describe(error: unknown): { code: string; message: string } {
  const isKnown = error instanceof WalletError || error instanceof MarketError;
  const message = error instanceof Error ? error.message : String(error);
  return { code: isKnown ? error.code : "unknown", message };
}
