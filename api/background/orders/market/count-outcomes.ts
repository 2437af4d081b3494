import type { ChainId } from "#chains/index.ts";
import { isRejection } from "#projections/domain/rejection.ts";
import type { Admit } from "./admission.ts";

/** Submitted orders since the process started, by what became of them: `accepted`, or the code of the rejection. */
export type OutcomeCount = {
  readonly chainId: ChainId;
  readonly side: "ask" | "bid";
  readonly outcome: string;
  readonly orders: number;
};

/** Counts the outcomes of all submissions. */
export function countOutcomes(admit: Admit): { admit: Admit; readOutcomes(): OutcomeCount[] } {
  const counts = new Map<string, OutcomeCount>();
  return {
    async admit(submission) {
      const admissions = await admit(submission);
      const { chainId, side } = submission;
      for (const { outcome: result } of admissions) {
        const outcome = isRejection(result) ? result.rejected : "accepted";
        const key = `${chainId} ${side} ${outcome}`;
        const orders = (counts.get(key)?.orders ?? 0) + 1;
        counts.set(key, { chainId, side, outcome, orders });
      }
      return admissions;
    },
    readOutcomes: () => [...counts.values()],
  };
}
