import type { CallOutcome } from "#projections/log/outgoing-calls.ts";
import { publishBudget, publishCall } from "#jobs/outgoing-calls.ts";
import type { RateLimiter } from "./rate-limiter.ts";
import type { PartnerRequest, RequestOutcome } from "./send-request.ts";

type Budget = PartnerRequest["budget"];
type EndedRequest = {
  marketplace: string;
  budget: Budget;
  outcome: RequestOutcome;
  limiters: Readonly<Record<Budget, RateLimiter>>;
};

/** Counts a request that was sent, and what is left of the budgets after it. */
export function countRequest({ marketplace, budget, outcome, limiters }: EndedRequest): void {
  const key = { kind: "partner", target: marketplace, host: "", method: budget } as const;
  const fault = "fault" in outcome ? { message: outcome.fault } : {};
  publishCall({ ...key, outcome: outcomeOf(outcome), ...fault });
  const now = Date.now();
  for (const name of ["read", "act"] as const) {
    const { perMinute, burst, restoredInMs, pausedForMs } = limiters[name].state();
    publishBudget({
      marketplace,
      budget: name,
      perMinute,
      burst,
      restoredAt: new Date(now + restoredInMs),
      pausedUntil: pausedForMs > 0 ? new Date(now + pausedForMs) : null,
    });
  }
}

function outcomeOf(outcome: RequestOutcome): CallOutcome {
  if (!("fault" in outcome)) return "answered";
  if (outcome.retryAfterMs !== undefined) return "limited";
  return outcome.status === undefined ? "no_answer" : "refused";
}
