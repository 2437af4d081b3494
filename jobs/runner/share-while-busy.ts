import { createSignal } from "./signals.ts";

type Sharing<Item> = {
  /** What a run may hold; a single item is never split. */
  readonly weigh?: (item: Item) => number;
  readonly mostWeight?: number;
  /** How long a run waits for those whom the one before answered, by its duration: callers often come again at once. */
  readonly returnMs?: (durationMs: number) => number;
};

/**
 * One run at a time: items that come meanwhile share the next one, so that under load they share its costs and without load
 * nothing waits. `run` answers each item, in their order; when it throws, all of them fail.
 */
export function shareWhileBusy<Item, Answer>(
  run: (items: readonly Item[]) => Promise<readonly (Answer | Promise<Answer>)[]>,
  {
    weigh = () => 1,
    mostWeight = Number.POSITIVE_INFINITY,
    returnMs = () => 0,
  }: Sharing<Item> = {},
): (item: Item) => Promise<Answer> {
  type Waiting = {
    readonly item: Item;
    readonly resolve: (answer: Answer | Promise<Answer>) => void;
    readonly reject: (error: unknown) => void;
  };
  const waiting: Waiting[] = [];
  const returns = openReturns(returnMs);
  let isBusy = false;

  const answer = async (batch: readonly Waiting[]): Promise<void> => {
    try {
      const answers = await run(batch.map(({ item }) => item));
      if (answers.length !== batch.length)
        throw new Error(`a run of ${batch.length} gave ${answers.length} answers`);
      batch.forEach(({ resolve }, index) => {
        resolve(answers[index] as Answer);
      });
      await Promise.allSettled(answers);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  };
  const work = async () => {
    isBusy = true;
    // Those who come in the same turn share the first run too.
    await Promise.resolve();
    while (waiting.length > 0) {
      await returns.awaitThem(waiting);
      const startedAt = performance.now();
      const batch = takeUpTo(mostWeight, waiting, ({ item }) => weigh(item));
      await answer(batch);
      returns.expect(waiting.length + batch.length, performance.now() - startedAt);
    }
    isBusy = false;
  };
  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      returns.arrived(waiting);
      if (!isBusy) void work();
    });
}

/** Removes the first ones, at least one, of at most a weight. */
function takeUpTo<One>(most: number, waiting: One[], weigh: (one: One) => number): One[] {
  let weight = 0;
  const end = waiting.findIndex((one, index) => {
    weight += weigh(one);
    return index > 0 && weight > most;
  });
  return waiting.splice(0, end === -1 ? waiting.length : end);
}

const neverAborted = new AbortController().signal;

/** Waits for as many as were there before, for a while. */
function openReturns(returnMs: (durationMs: number) => number) {
  let [expected, waitsUntil] = [0, 0];
  let end = () => {};
  return {
    expect(count: number, durationMs: number): void {
      expected = count;
      waitsUntil = performance.now() + returnMs(durationMs);
    },
    arrived(all: readonly unknown[]): void {
      if (all.length >= expected) end();
    },
    async awaitThem(all: readonly unknown[]): Promise<void> {
      const leftMs = waitsUntil - performance.now();
      if (all.length >= expected || leftMs <= 0) return;
      const back = createSignal();
      end = back.notify;
      await back.wait(leftMs, neverAborted);
    },
  };
}

/** A run that fails is tried again item by item, so that only those fail whose fault it is. */
export function retryingEach<Item, Answer>(
  run: (items: readonly Item[]) => Promise<readonly Answer[]>,
) {
  return async (items: readonly Item[]): Promise<readonly (Answer | Promise<Answer>)[]> => {
    try {
      return await run(items);
    } catch (error) {
      if (items.length === 1) throw error;
      return items.map(async (item) => (await run([item]))[0] as Answer);
    }
  };
}
