import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { LRUCache } from "lru-cache";
import type { Address } from "viem";
import type { ChainId } from "#chains/index.ts";
import { retryingEach, shareWhileBusy } from "#jobs/runner/share-while-busy.ts";
import type { MarketTerms } from "#projections/domain/orders/order-terms.ts";
import { isRejection } from "#projections/domain/rejection.ts";
import type { AdmissionOutcome, Admit } from "../market.ts";
import { type AdmissionContext, admitBatch } from "./admit-batch.ts";
import { type ParsedSubmission, type PendingOrder, parseSubmission } from "./parse.ts";

/** Of callers with costly contracts; the one that was idle for longest is forgotten. */
const maxQueues = 10_000;

/** Most orders per batch, unless a single request contains more. */
const maxOrdersPerBatch = 200;

export function openAdmission(
  admissionContext: AdmissionContext,
  terms: (chainId: ChainId) => MarketTerms,
): Admit {
  const queues = new LRUCache<string, ReturnType<typeof openQueue>>({ max: maxQueues });
  const queueOf = (chainId: ChainId, pendingOrders: readonly PendingOrder[]) => {
    const { health } = admissionContext.chain(chainId);
    const isCheap = pendingOrders.every((pending) => payersOf(pending).every(health.isCheap));
    const name = isCheap ? `${chainId}` : `${chainId} ${pendingOrders[0]?.network}`;
    const queue = queues.get(name) ?? openQueue(admissionContext, chainId);
    queues.set(name, queue);
    return queue;
  };
  return async ({ orders, ...submission }) => {
    const { db } = admissionContext;
    const context = { ...submission, terms: terms(submission.chainId), db };
    const parsed: ParsedSubmission[] = [];
    for (const raw of orders) {
      // Signature recovery takes milliseconds: yield to the event loop between two.
      if (parsed.length > 0) await yieldToEventLoop();
      parsed.push(await parseSubmission(raw, context));
    }
    const pendingOrders = parsed.flatMap(({ result }) => (isRejection(result) ? [] : [result]));
    const outcomes =
      pendingOrders.length === 0
        ? []
        : await queueOf(submission.chainId, pendingOrders)(pendingOrders);
    const outcomeOf = new Map(pendingOrders.map((pending, index) => [pending, outcomes[index]]));
    return parsed.map(({ subject, result }) => {
      const outcome = isRejection(result) ? result : outcomeOf.get(result);
      if (outcome === undefined) throw new Error("admission returned no result for an order");
      return { subject, outcome };
    });
  };
}

/** The contracts whose code decides what the checks of an order cost. */
function payersOf({ order: { contract, maker }, signatureCheck }: PendingOrder): Address[] {
  return signatureCheck.signedBy === "maker" ? [contract] : [contract, maker];
}

/**
 * Callers of one chain whose contracts answered cheaply before share batches; each other caller, whose calls may be slow,
 * has its own.
 */
function openQueue(context: AdmissionContext, chainId: ChainId) {
  type Outcomes = readonly AdmissionOutcome[];
  const admit = async (callers: readonly (readonly PendingOrder[])[]): Promise<Outcomes[]> => {
    const pendingOrders = callers.flat();
    const now = pendingOrders[0]?.now ?? new Date(0);
    const isSingleCaller = callers.length === 1;
    const outcomes = await admitBatch(context, { chainId, pendingOrders, isSingleCaller, now });
    let start = 0;
    return callers.map(({ length }) => {
      start += length;
      return outcomes.slice(start - length, start);
    });
  };
  return shareWhileBusy<readonly PendingOrder[], Outcomes>(retryingEach(admit), {
    weigh: ({ length }) => length,
    mostWeight: maxOrdersPerBatch,
    returnMs,
  });
}

/** Callers often submit again right after a response: the next batch waits for them for a share of the last one's duration. */
const returnMs = (durationMs: number): number => Math.min(40, durationMs / 2);
