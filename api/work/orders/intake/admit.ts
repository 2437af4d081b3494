import { setImmediate as turn } from "node:timers/promises";
import type { ChainId } from "../../../../abis/deployments.ts";
import type { MarketTerms } from "../../../../projections/domain/orders/market-terms.ts";
import { isRejection } from "../../../../projections/domain/rejection.ts";
import { admitBatch, type Book, type Outcome } from "./admit-batch.ts";
import { type Batched, inBatches } from "./batch.ts";
import {
  type Candidate,
  type Examined,
  examine,
  type Subject,
  type Submission,
} from "./candidate.ts";

/** What became of one order. */
export type Admission = { subject: Subject | null; outcome: Outcome };

/** Takes orders in. Results stand in the order of what was sent. */
export type Admit = (submission: Submission) => Promise<Admission[]>;

/** Orders that are admitted together at most, unless one request brings more. */
const ordersAtOnce = 200;

export function openAdmission(book: Book, terms: (chainId: ChainId) => MarketTerms): Admit {
  const queues = new Map<ChainId, Batched<readonly Candidate[], readonly Outcome[]>>();
  const queueOf = (chainId: ChainId) => {
    const queue = queues.get(chainId) ?? openQueue(book, chainId);
    queues.set(chainId, queue);
    return queue;
  };
  return async ({ orders, ...submission }) => {
    const context = { ...submission, terms: terms(submission.chainId) };
    const examined: Examined[] = [];
    for (const raw of orders) {
      // Recovering a signer takes milliseconds: others have their turn between two.
      if (examined.length > 0) await turn();
      examined.push(await examine(raw, context));
    }
    const candidates = examined.flatMap(({ found }) => (isRejection(found) ? [] : [found]));
    const outcomes = candidates.length === 0 ? [] : await queueOf(submission.chainId)(candidates);
    const byCandidate = new Map(candidates.map((one, index) => [one, outcomes[index]]));
    return examined.map(({ subject, found }) => {
      const outcome = isRejection(found) ? found : byCandidate.get(found);
      if (outcome === undefined) throw new Error("an order got no outcome");
      return { subject, outcome };
    });
  };
}

/** Callers of one chain share batches. */
function openQueue(book: Book, chainId: ChainId) {
  return inBatches<readonly Candidate[], readonly Outcome[]>(
    async (callers) => {
      const candidates = callers.flat();
      const now = candidates[0]?.now ?? new Date(0);
      const isOneCallers = callers.length === 1;
      const outcomes = await admitBatch(book, { chainId, candidates, isOneCallers, now });
      let start = 0;
      return callers.map(({ length }) => {
        start += length;
        return outcomes.slice(start - length, start);
      });
    },
    { weigh: ({ length }) => length, most: ordersAtOnce },
  );
}
