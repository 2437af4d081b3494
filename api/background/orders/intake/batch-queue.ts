/** Processes items in batches; resolves with the item's result. */
export type BatchQueue<Item, Result> = (item: Item) => Promise<Result>;

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
