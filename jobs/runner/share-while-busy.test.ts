import { describe, expect, it, vi } from "vitest";
import { retryingEach, shareWhileBusy } from "./share-while-busy.ts";

type Call = { items: readonly string[]; end: () => void };

/** Batches that end when the test says so. */
function openBatches(mostWeight = 10) {
  const calls: Call[] = [];
  const run = async (items: readonly string[]) => {
    await new Promise<void>((resolve) => calls.push({ items, end: resolve }));
    if (items.includes("bad")) throw new Error("a bad item");
    return items.map((item) => item.toUpperCase());
  };
  const send = shareWhileBusy<string, string>(retryingEach(run), {
    weigh: (item) => item.length,
    mostWeight,
    returnMs: (durationMs) => durationMs / 2,
  });
  /** Lets what can run now run. */
  const settled = () => new Promise((resolve) => setImmediate(resolve));
  return { calls, send, settled };
}

describe("batches", () => {
  it("take all that came meanwhile, and give each its own result", async () => {
    const { calls, send, settled } = openBatches();
    const first = send("a");
    await settled();
    const others = [send("b"), send("c")];
    await settled();
    expect(calls.map(({ items }) => items)).toEqual([["a"]]);

    calls[0]?.end();
    expect(await first).toBe("A");
    await vi.waitFor(() => expect(calls[1]?.items).toEqual(["b", "c"]));
    calls[1]?.end();
    expect(await Promise.all(others)).toEqual(["B", "C"]);
  });

  it("wait for those whom the one before answered, half of its time at most", async () => {
    vi.useFakeTimers({ toFake: ["performance", "setTimeout", "clearTimeout"] });
    const { calls, send, settled } = openBatches();
    const first = ["a", "b"].map(send);
    await settled();
    vi.advanceTimersByTime(20);
    calls[0]?.end();
    await Promise.all(first);

    const again = send("a");
    await settled();
    expect(calls).toHaveLength(1);
    const other = send("b");
    await vi.waitFor(() => expect(calls[1]?.items).toEqual(["a", "b"]));
    vi.advanceTimersByTime(20);
    calls[1]?.end();
    await Promise.all([again, other]);

    const alone = send("a");
    await settled();
    vi.advanceTimersByTime(9);
    await settled();
    expect(calls).toHaveLength(2);
    vi.advanceTimersByTime(1);
    await vi.waitFor(() => expect(calls[2]?.items).toEqual(["a"]));
    calls[2]?.end();
    await alone;
    vi.useRealTimers();
  });

  it("hold no more than they may, but an item that is heavier alone", async () => {
    const { calls, send } = openBatches(4);
    const sent = ["aaaaaa", "bb", "cc", "d"].map(send);
    for (const at of [0, 1, 2]) {
      await vi.waitFor(() => expect(calls[at]).toBeDefined());
      calls[at]?.end();
    }
    expect(await Promise.all(sent)).toEqual(["AAAAAA", "BB", "CC", "D"]);
    expect(calls.map(({ items }) => items)).toEqual([["aaaaaa"], ["bb", "cc"], ["d"]]);
  });

  it("fail only whose fault it is", async () => {
    const { calls, send, settled } = openBatches();
    const sent = Promise.allSettled(["a", "bad", "c"].map(send));
    await settled();
    calls[0]?.end();
    await settled();
    for (const { end } of calls.slice(1)) end();
    expect((await sent).map(({ status }) => status)).toEqual([
      "fulfilled",
      "rejected",
      "fulfilled",
    ]);
    expect(calls.map(({ items }) => items)).toEqual([["a", "bad", "c"], ["a"], ["bad"], ["c"]]);
  });
});
