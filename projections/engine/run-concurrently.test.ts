import { describe, expect, it } from "vitest";
import { CONCURRENCY, runConcurrently } from "./run-concurrently.ts";

/** Work that ends on demand; `events` holds what started and ended, in order. */
function watched() {
  const events: string[] = [];
  const ends = new Map<string, (failure?: Error) => void>();
  const work = async (one: string) => {
    events.push(`${one} began`);
    await new Promise<void>((resolve, reject) => {
      ends.set(one, (failure) => (failure === undefined ? resolve() : reject(failure)));
    });
    events.push(`${one} ended`);
    return one.toUpperCase();
  };
  const end = async (one: string, failure?: Error) => {
    ends.get(one)?.(failure);
    await new Promise(setImmediate);
  };
  return { events, work, end };
}

describe("running work concurrently", () => {
  it("starts as many as allowed, in order, with results in order", async () => {
    const { events, work, end } = watched();
    const all = runConcurrently(["a", "b", "c"], work);
    expect(events).toEqual(["a began", "b began"]);
    expect(events).toHaveLength(CONCURRENCY);

    await end("b");
    expect(events).toEqual(["a began", "b began", "b ended", "c began"]);
    await end("c");
    await end("a");

    expect(await all).toEqual(["A", "B", "C"]);
  });

  it("starts none before what it waits for has ended, and starts others meanwhile", async () => {
    const { events, work, end } = watched();
    const all = runConcurrently(
      ["a", "after a", "b"],
      work,
      (one, other) => one === `after ${other}`,
    );
    expect(events).toEqual(["a began", "b began"]);

    await end("b");
    expect(events.at(-1)).toBe("b ended");
    await end("a");
    expect(events.at(-1)).toBe("after a began");
    await end("after a");

    expect(await all).toEqual(["A", "AFTER A", "B"]);
  });

  it("fails with the first failure when running work has ended, and starts nothing more", async () => {
    const { events, work, end } = watched();
    const all = runConcurrently(["a", "b", "c"], work);
    const failed = expect(all).rejects.toThrow("failed on purpose");

    await end("a", new Error("failed on purpose"));
    await end("b");
    await failed;

    expect(events).toEqual(["a began", "b began", "b ended"]);
  });

  it("fails with the cause, though a statement behind it in its transaction is heard of earlier", async () => {
    const { work, end } = watched();
    const all = runConcurrently(["a", "b"], work);
    const failed = expect(all).rejects.toThrow("division by zero");

    const after = new Error("current transaction is aborted");
    await end("b", Object.assign(after, { code: "25P02" }));
    await end("a", Object.assign(new Error("division by zero"), { code: "22012" }));
    await failed;
  });
});
