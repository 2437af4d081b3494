import { expect, it } from "vitest";
import { createCooldowns, createWindows, openTurns } from "./limits.ts";

const key = "nft.example";
const pauses = { firstMs: 1_000, mostMs: 60_000, failuresUntilCooldown: 1 };

function open(options: Partial<Parameters<typeof createCooldowns>[0]> = {}) {
  const clock = { ms: 1_800_000_000_000 };
  const cooldowns = createCooldowns<string>({ now: () => clock.ms, ...pauses, ...options });
  /** Seconds of the cooldown after each of so many failures, each at the end of the one before. */
  const secondsAfter = (failures: number) =>
    Array.from({ length: failures }, () => {
      cooldowns.recordFailure(key);
      const ms = cooldowns.remainingMs(key);
      clock.ms += ms;
      return ms / 1_000;
    });
  return { clock, cooldowns, secondsAfter };
}

it("a key is left alone twice as long after each failure, up to the most", () => {
  const { cooldowns, secondsAfter } = open();
  expect(secondsAfter(8)).toEqual([1, 2, 4, 8, 16, 32, 60, 60]);
  expect(cooldowns.isCoolingDown(key)).toBe(false);
  expect(cooldowns.coolingDown()).toEqual([]);
  cooldowns.recordFailure("other.example");
  expect(cooldowns.coolingDown()).toEqual(["other.example"]);
});

it("only from as many failures in a row on as it takes", () => {
  const { secondsAfter } = open({ failuresUntilCooldown: 3 });
  expect(secondsAfter(5)).toEqual([0, 0, 1, 2, 4]);
});

it("as long as a host asks for, up to the most", () => {
  const { cooldowns } = open();
  cooldowns.recordFailure(key, 5_000);
  expect(cooldowns.remainingMs(key)).toBe(5_000);
  cooldowns.recordFailure(key, 3_600_000);
  expect(cooldowns.remainingMs(key)).toBe(60_000);
});

it("a success ends a cooldown and forgives all failures, or as many as are said", () => {
  const all = open();
  all.secondsAfter(4);
  all.cooldowns.recordSuccess(key);
  expect(all.secondsAfter(1)).toEqual([1]);

  const one = open({ failuresForgiven: 1 });
  one.secondsAfter(4);
  one.cooldowns.recordFailure(key);
  one.cooldowns.recordSuccess(key);
  expect(one.cooldowns.isCoolingDown(key)).toBe(false);
  expect(one.secondsAfter(1)).toEqual([16]);
});

it("time forgives failures, where it is said to", () => {
  const { clock, cooldowns, secondsAfter } = open({ forgivenAfterMs: 10_000 });
  secondsAfter(3);
  clock.ms += 9_999;
  expect(cooldowns.isFailing(key)).toBe(true);
  clock.ms += 1;
  expect(cooldowns.isFailing(key)).toBe(false);
  expect(secondsAfter(2)).toEqual([1, 2]);
  const never = open();
  never.secondsAfter(3);
  never.clock.ms += 1e12;
  expect(never.secondsAfter(1)).toEqual([8]);
});

it("a window begins with the first time, and ends with all that was counted in it", () => {
  let nowMs = 1_000;
  const windows = createWindows(60_000, () => nowMs);
  windows.count(key);
  nowMs += 59_000;
  windows.count(key);
  expect([windows.of(key), windows.of("other.example")]).toEqual([2, 0]);
  nowMs += 2_000;
  expect(windows.of(key)).toBe(0);
  windows.count(key);
  expect(windows.of(key)).toBe(1);
});

it("tasks run a few at once, in all and of one caller; callers take turns", async () => {
  const turns = openTurns({ atOnce: 3, ofCaller: 2 });
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const ended = ["a1", "a2", "a3", "a4", "b1", "b2", "c1"].map((name) =>
    turns.run(name.slice(0, 1), () => {
      begun.push(name);
      return new Promise<void>((end) => ends.push(end));
    }),
  );
  const settled = () => new Promise((resolve) => setImmediate(resolve));
  await settled();
  expect(begun).toEqual(["a1", "a2", "b1"]);
  expect([turns.waiting(), turns.waiting("a"), turns.waiting("c")]).toEqual([4, 2, 1]);
  while (begun.length < ended.length) {
    ends.shift()?.();
    await settled();
  }
  expect(begun).toEqual(["a1", "a2", "b1", "a3", "b2", "c1", "a4"]);
  for (const end of ends) end();
  await Promise.all(ended);
});
