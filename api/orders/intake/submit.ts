import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { LRUCache } from "lru-cache";
import type { Address } from "viem";
import type { ChainId } from "#chains/index.ts";
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
  const queues = new LRUCache<
    string,
    BatchQueue<readonly PendingOrder[], readonly AdmissionOutcome[]>
  >({
    max: maxQueues,
  });
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
  return createBatchQueue<readonly PendingOrder[], readonly AdmissionOutcome[]>(
    async (callers) => {
      const pendingOrders = callers.flat();
      const now = pendingOrders[0]?.now ?? new Date(0);
      const isSingleCaller = callers.length === 1;
      const outcomes = await admitBatch(context, { chainId, pendingOrders, isSingleCaller, now });
      let start = 0;
      return callers.map(({ length }) => {
        start += length;
        return outcomes.slice(start - length, start);
      });
    },
    { weigh: ({ length }) => length, maxWeight: maxOrdersPerBatch },
  );
}

/** Processes items in batches; resolves with the item's result. */
type BatchQueue<Item, Result> = (item: Item) => Promise<Result>;

/** Callers often submit again right after a response: how long the next batch waits for them, as a share of the last batch's duration. */
const returnWaitShare = 0.5;
const maxReturnWaitMs = 40;

/**
 * Runs one batch at a time: items that arrive meanwhile go into the next one, so that under load they share its costs
 * and without load nothing waits. `weigh` and `maxWeight` limit a batch; a single item is never split.
 * A batch that fails is retried item by item, so that only the failing items fail.
 */
export function createBatchQueue<Item, Result>(
  run: (items: readonly Item[]) => Promise<readonly Result[]>,
  { weigh, maxWeight }: { weigh: (item: Item) => number; maxWeight: number },
): BatchQueue<Item, Result> {
  type Waiting = {
    item: Item;
    resolve: (result: Result) => void;
    reject: (error: unknown) => void;
  };
  const waiting: Waiting[] = [];
  let isWorking = false;

  const takeNext = (): Waiting[] => {
    let weight = 0;
    const end = waiting.findIndex(({ item }, index) => {
      weight += weigh(item);
      return index > 0 && weight > maxWeight;
    });
    return waiting.splice(0, end === -1 ? waiting.length : end);
  };
  const settle = async (batch: readonly Waiting[]): Promise<void> => {
    try {
      const results = await run(batch.map(({ item }) => item));
      if (results.length !== batch.length)
        throw new Error(`batch of ${batch.length} returned ${results.length} results`);
      batch.forEach(({ resolve }, index) => {
        resolve(results[index] as Result);
      });
    } catch (error) {
      if (batch.length > 1) await Promise.all(batch.map((one) => settle([one])));
      else batch[0]?.reject(error);
    }
  };
  let last = { expected: 0, waitsUntil: 0 };
  let onArrival = () => {};
  const untilBack = async () => {
    const leftMs = last.waitsUntil - performance.now();
    if (waiting.length >= last.expected || leftMs <= 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, leftMs);
      onArrival = () => {
        if (waiting.length < last.expected) return;
        clearTimeout(timer);
        resolve();
      };
    });
    onArrival = () => {};
  };
  const work = async () => {
    isWorking = true;
    // Those who come in the same turn share the first batch too.
    await Promise.resolve();
    while (waiting.length > 0) {
      await untilBack();
      const startedAt = performance.now();
      const batch = takeNext();
      await settle(batch);
      const endedAt = performance.now();
      const returnWaitMs = Math.min(maxReturnWaitMs, (endedAt - startedAt) * returnWaitShare);
      last = { expected: waiting.length + batch.length, waitsUntil: endedAt + returnWaitMs };
    }
    isWorking = false;
  };
  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      onArrival();
      if (!isWorking) void work();
    });
}
