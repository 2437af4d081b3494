/** Does work for items together, those of each call at once. */
export type Batched<Item, Result> = (item: Item) => Promise<Result>;

/** Who was just answered often asks again at once. How long a batch waits for that, as a part of what the last one took. */
const returnShare = 0.25;
const returnMs = 40;

/**
 * Does one batch at a time: what comes meanwhile waits and goes together into the next one, so that under load its
 * costs are shared and without load nobody waits. `weigh` and `most` bound a batch; a single item is never split.
 * A batch that fails is done again item by item, so that only whose fault it is fails.
 */
export function inBatches<Item, Result>(
  run: (items: readonly Item[]) => Promise<readonly Result[]>,
  { weigh, most }: { weigh: (item: Item) => number; most: number },
): Batched<Item, Result> {
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
      return index > 0 && weight > most;
    });
    return waiting.splice(0, end === -1 ? waiting.length : end);
  };
  const settle = async (batch: readonly Waiting[]): Promise<void> => {
    try {
      const results = await run(batch.map(({ item }) => item));
      if (results.length !== batch.length) throw new Error("a batch lost some of its items");
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
      const begunAt = performance.now();
      const batch = takeNext();
      await settle(batch);
      const endedAt = performance.now();
      const returnsMs = Math.min(returnMs, (endedAt - begunAt) * returnShare);
      last = { expected: waiting.length + batch.length, waitsUntil: endedAt + returnsMs };
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
