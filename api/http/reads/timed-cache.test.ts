import { describe, expect, it } from "vitest";
import { timedCache } from "./cache.ts";

const at = (second: number) => ({ now: new Date(second * 1_000) });

function openCounter() {
  const reads: number[] = [];
  const get = timedCache({
    seconds: () => 60,
    read: async (_owner: object, { now }: { now: Date }) => {
      reads.push(now.getTime() / 1_000);
      return { readAt: now.getTime() / 1_000 };
    },
    maxSize: 2,
  });
  return { reads, get };
}

describe("timedCache", () => {
  it("never lets an answer and the caller's copy of it get older than the time together", async () => {
    const { get, reads } = openCounter();
    const owner = {};
    for (let second = 0; second < 300; second += 7) {
      const { value, maxAgeSeconds } = await get(owner, "a", at(second));
      expect(second - value.readAt + maxAgeSeconds).toBeLessThanOrEqual(60);
      expect(maxAgeSeconds).toBeGreaterThanOrEqual(0);
    }
    expect(reads.length).toBe(5);
  });

  it("reads once for concurrent requests, and again for another owner, key or failure", async () => {
    const { get, reads } = openCounter();
    const owner = {};
    await Promise.all([get(owner, "a", at(0)), get(owner, "a", at(0))]);
    expect(reads.length).toBe(1);
    await Promise.all([get(owner, "b", at(0)), get({}, "a", at(0))]);
    expect(reads.length).toBe(3);

    let fails = true;
    const failing = timedCache({
      seconds: () => 60,
      read: async (_owner: object, _request: { now: Date }) => {
        if (fails) throw new Error("no answer");
        return { ok: true };
      },
      maxSize: 1,
    });
    await expect(failing(owner, "a", at(0))).rejects.toThrow("no answer");
    fails = false;
    expect(await failing(owner, "a", at(0))).toMatchObject({ value: { ok: true } });
  });

  it("reads again when the clock went back", async () => {
    const { get, reads } = openCounter();
    const owner = {};
    await get(owner, "a", at(100));
    expect((await get(owner, "a", at(50))).maxAgeSeconds).toBe(60);
    expect(reads).toEqual([100, 50]);
  });
});
