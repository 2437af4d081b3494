import diagnostics from "node:diagnostics_channel";
import type { CallKey, PartnerBudget } from "#projections/log/outgoing-calls.ts";

/** A call to a node or a partner that has ended. */
export type EndedCall = CallKey & {
  /** Several calls that ended alike; one without it. */
  readonly calls?: number;
  /** Why it failed, without keys. */
  readonly message?: string;
};

const calls = diagnostics.channel("order-book:outgoing-call");
const budgets = diagnostics.channel("order-book:partner-budget");

/** Where no meter of this process listens, these cost nothing. */
export const publishCall = (call: EndedCall): void => calls.publish(call);
export const publishBudget = (budget: PartnerBudget): void => budgets.publish(budget);

type Listener = { onCall: (call: EndedCall) => void; onBudget: (budget: PartnerBudget) => void };

/** Returns how to end it. */
export function listenToCalls({ onCall, onBudget }: Listener): () => void {
  const call = (message: unknown) => onCall(message as EndedCall);
  const budget = (message: unknown) => onBudget(message as PartnerBudget);
  calls.subscribe(call);
  budgets.subscribe(budget);
  return () => {
    calls.unsubscribe(call);
    budgets.unsubscribe(budget);
  };
}
