import { describe, expect, it } from "vitest";
import { CONCURRENCY, runConcurrently } from "./run-concurrently.ts";

/** Work that ends when it is told to; `told` holds what began and ended, in order. */
function watched() {
  const told: string[] = [];
  const ends = new Map<string, (failure?: Error) => void>();
  const work = async (one: string) => {
    told.push(`${one} began`);
    await new Promise<void>((resolve, reject) => {
      ends.set(one, (failure) => (failure === undefined ? resolve() : reject(failure)));
    });
    told.push(`${one} ended`);
    return one.toUpperCase();
  };
  const end = async (one: string, failure?: Error) => {
    ends.get(one)?.(failure);
    await new Promise(setImmediate);
  };
  return { told, work, end };
}

describe("work in lanes", () => {
  it("goes on for as many as there are lanes, in order, with results in order", async () => {
    const { told, work, end } = watched();
    const all = runConcurrently(["a", "b", "c"], work);
    expect(told).toEqual(["a began", "b began"]);
    expect(told).toHaveLength(CONCURRENCY);

    await end("b");
    expect(told).toEqual(["a began", "b began", "b ended", "c began"]);
    await end("c");
    await end("a");

    expect(await all).toEqual(["A", "B", "C"]);
  });

  it("begins none before what it waits for has ended, and lets others pass it", async () => {
    const { told, work, end } = watched();
    const all = runConcurrently(
      ["a", "after a", "b"],
      work,
      (one, other) => one === `after ${other}`,
    );
    expect(told).toEqual(["a began", "b began"]);

    await end("b");
    expect(told.at(-1)).toBe("b ended");
    await end("a");
    expect(told.at(-1)).toBe("after a began");
    await end("after a");

    expect(await all).toEqual(["A", "AFTER A", "B"]);
  });

  it("ends with the first failure, when what was under way has ended and nothing more began", async () => {
    const { told, work, end } = watched();
    const all = runConcurrently(["a", "b", "c"], work);
    const failed = expect(all).rejects.toThrow("out of luck");

    await end("a", new Error("out of luck"));
    await end("b");
    await failed;

    expect(told).toEqual(["a began", "b began", "b ended"]);
  });
});
