import { pino } from "pino";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Job, JobOutcome } from "./job.ts";
import { type JobBook, openJobBook, runEach, runJobs } from "./run-jobs.ts";
import { createPolledSignal, createSignal } from "./signals.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

type Started = Awaited<ReturnType<typeof start>>;

/** Runs a job whose runs have these outcomes, the last one again and again, and tells the seconds at which they began. */
async function start(
  outcomes: readonly (JobOutcome | Error | undefined)[],
  job: Partial<Job> = {},
  shared: { book?: JobBook; areDerived?: () => Promise<boolean> } = {},
) {
  const ending = new AbortController();
  const lines: Record<string, unknown>[] = [];
  const begun: number[] = [];
  const since = Date.now();
  const done = runJobs(
    {
      name: "test",
      async run() {
        const outcome = outcomes[Math.min(begun.length, outcomes.length - 1)];
        begun.push((Date.now() - since) / 1_000);
        if (outcome instanceof Error) throw outcome;
        return outcome;
      },
      ...job,
    },
    {
      ...shared,
      logger: pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) }),
      signal: ending.signal,
    },
  );
  await vi.advanceTimersByTimeAsync(0);
  return {
    begun,
    lines,
    pass: (seconds: number) => vi.advanceTimersByTimeAsync(seconds * 1_000),
    async end() {
      ending.abort();
      await vi.advanceTimersByTimeAsync(0);
      await done;
    },
    done,
  };
}

const messages = ({ lines }: Started) => lines.map(({ msg }) => msg);

describe("a job", () => {
  it("runs at once and at its interval until the signal, which ends a pause", async () => {
    const job = await start([undefined], { every: 10_000 });
    await job.pass(25);
    await job.end();
    await job.pass(100);
    expect(job.begun).toEqual([0, 10, 20]);
  });

  it("runs again at once while there is more, and when a run says", async () => {
    const job = await start(["more", "more", 3_000, undefined], { every: 10_000 });
    await job.pass(14);
    await job.end();
    expect(job.begun).toEqual([0, 0, 0, 3, 13]);
  });

  it("runs no more when it has ended", async () => {
    const job = await start([undefined, "ended"], { every: 1_000 });
    await job.pass(1);
    await job.done;
    expect(job.begun).toEqual([0, 1]);
  });

  it("is woken, also by what happened during a run", async () => {
    const wakesOn = createSignal();
    const job = await start([undefined], { every: 60_000, wakesOn });
    await job.pass(2);
    wakesOn.notify();
    await job.pass(0);
    wakesOn.notify();
    wakesOn.notify();
    await job.pass(1);
    await job.end();
    expect(job.begun).toEqual([0, 2, 2]);
  });

  it("without an interval of its own is polled by its signal", async () => {
    const wakesOn = createPolledSignal(createSignal());
    const job = await start([undefined], { wakesOn });
    await job.pass(0.6);
    await job.end();
    expect(job.begun).toEqual([0, 0.25, 0.5]);
  });

  it("waits until the projections that it reads are derived", async () => {
    let isDerived = false;
    const job = await start(
      [undefined],
      { every: 60_000, reads: ["sales"] },
      { areDerived: async () => isDerived },
    );
    await job.pass(3);
    isDerived = true;
    await job.pass(10);
    await job.end();
    expect(job.begun).toEqual([4]);
  });
});

describe("a job that fails", () => {
  const [away, full] = [new Error("node is away"), new Error("disk is full")];

  it("is tried again after a second, twice as long each time up to a minute, whatever wakes it", async () => {
    const wakesOn = createSignal();
    const job = await start([away], { every: 1, wakesOn });
    for (let second = 0; second < 200; second += 1) {
      wakesOn.notify();
      await job.pass(1);
    }
    await job.end();
    expect(job.begun).toEqual([0, 1, 3, 7, 15, 31, 63, 123, 183]);
  });

  it("is tried again as it says, and when it is woken if it says so", async () => {
    const wakesOn = createSignal();
    const retry = { firstMs: 5_000, mostMs: 5_000, isWoken: true };
    const job = await start([away], { wakesOn, retry });
    await job.pass(11);
    wakesOn.notify();
    await job.pass(1);
    await job.end();
    expect(job.begun).toEqual([0, 5, 10, 11]);
  });

  it("says so once for each cause, and when it works again", async () => {
    const outcomes = [away, away, full, full, away, undefined, away, undefined];
    const job = await start(outcomes, { every: 1_000, about: { chainId: 7 } });
    await job.pass(300);
    await job.end();
    const failed = "job failed, retrying";
    expect(messages(job)).toEqual([
      ...[failed, failed, failed, "job works again", failed, "job works again"],
    ]);
    expect(job.lines[0]).toMatchObject({
      job: "test",
      chainId: 7,
      err: { message: "node is away" },
    });
  });

  it("ends no other job", async () => {
    const ending = new AbortController();
    let runs = 0;
    const done = runJobs(
      [
        {
          name: "fails",
          run: async () => {
            throw away;
          },
        },
        {
          name: "works",
          every: 1_000,
          run: async () => {
            runs += 1;
          },
        },
      ],
      { logger: pino({ level: "silent" }), signal: ending.signal },
    );
    await vi.advanceTimersByTimeAsync(4_500);
    ending.abort();
    await vi.advanceTimersByTimeAsync(0);
    await done;
    expect(runs).toBe(5);
  });

  it("has not failed when the signal interrupted it", async () => {
    const job = await start([undefined], {
      run: (signal) =>
        new Promise((_, reject) => signal.addEventListener("abort", () => reject(away))),
    });
    await job.end();
    expect(job.lines).toEqual([]);
  });
});

it("the runs of a job are measured, each once", async () => {
  const book = openJobBook();
  const failure = new Error("node is away");
  const job = await start(
    [undefined, failure, failure],
    {
      every: 5_000,
      about: { chainId: 7, partner: "any" },
    },
    { book },
  );
  await job.pass(7);
  const [figures] = book.takeFigures();
  expect(figures).toMatchObject({
    ...{ name: "test", part: "7 any", runs: 3, failures: 2, failure: "node is away" },
    nextAt: new Date((figures?.startedAt.getTime() ?? 0) + 2_000),
  });
  expect(book.takeFigures()).toEqual([]);
  await job.end();
});

describe("each of some names", () => {
  /** Follows names, of which the first are these, and tells which run. */
  function follow(first: readonly string[]) {
    const ending = new AbortController();
    const lines: Record<string, unknown>[] = [];
    const logger = pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) });
    const running = new Map<string, (failure: Error) => void>();
    const names = { read: async () => first };
    const done = runEach({
      name: "parts",
      about: { chainId: 7 },
      readNames: () => names.read(),
      run: (name, signal) =>
        new Promise<void>((resolve, reject) => {
          running.set(name, reject);
          signal.addEventListener("abort", () => resolve());
        }).finally(() => running.delete(name)),
      runJob: (job, signal) => runJobs(job, { logger, signal }),
      signal: ending.signal,
    });
    return { ending, lines, running, names, done };
  }

  const passSeconds = (seconds: number) => vi.advanceTimersByTimeAsync(seconds * 1_000);

  it("is begun when it comes, ended when it goes, and ended by the signal", async () => {
    const { ending, running, names, done } = follow(["a", "b"]);
    await passSeconds(0);
    expect([...running.keys()]).toEqual(["a", "b"]);
    names.read = async () => ["b", "c"];
    await passSeconds(2);
    expect([...running.keys()]).toEqual(["b", "c"]);
    ending.abort();
    await done;
    expect(running.size).toBe(0);
  });

  it("goes on while names cannot be read, which the job tells", async () => {
    const { ending, lines, running, names, done } = follow(["a"]);
    await passSeconds(0);
    names.read = async () => {
      throw new Error("database is away");
    };
    await passSeconds(10);
    expect([...running.keys()]).toEqual(["a"]);
    expect(lines).toMatchObject([{ job: "parts", chainId: 7, msg: "job failed, retrying" }]);
    ending.abort();
    await done;
  });

  it("ends with the others when one fails", async () => {
    const { running, done } = follow(["a", "b"]);
    const end = done.catch((error: Error) => error.message);
    await passSeconds(0);
    running.get("a")?.(new Error("a is broken"));
    expect(await end).toBe("a is broken");
    expect(running.size).toBe(0);
  });
});
