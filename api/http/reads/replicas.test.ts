import { afterEach, expect, it } from "vitest";
import { openReplicas, type Replicas } from "./replicas.ts";
import type { ReadSource } from "./target.ts";

let replicas: Replicas | undefined;
afterEach(() => replicas?.stop());

/** A primary and two replicas, whose positions the test sets; null: it does not answer. */
function openStage(weights: readonly [number, number] = [1, 1]) {
  const at = { primary: 10n, one: 10n as bigint | null, two: 10n as bigint | null };
  const stage = { nowMs: 0, drawn: 0 };
  const target = (name: keyof typeof at) =>
    ({
      name,
      readVersion: async () => {
        const position = at[name];
        if (position === null) throw new Error("down");
        return { version: "", position };
      },
    }) as unknown as ReadSource;
  const changes: string[] = [];
  const opened = openReplicas({
    primary: target("primary"),
    replicas: [
      { target: target("one"), weight: weights[0] },
      { target: target("two"), weight: weights[1] },
    ],
    maxLagSeconds: 4,
    onChange: ({ name, isUsed }) => changes.push(`${name} ${isUsed ? "used" : "left"}`),
    nowMs: () => stage.nowMs,
    random: () => stage.drawn,
  });
  replicas = opened;
  const chosen = (atLeast = 0n) =>
    new Set(
      [0, 0.3, 0.6, 0.99].map((drawn) => {
        stage.drawn = drawn;
        return opened.choose(atLeast).name;
      }),
    );
  return { at, stage, opened, changes, chosen };
}

it("reads go to the replicas by their weights, and to the primary before they were looked at", async () => {
  const { stage, opened, chosen } = openStage([1, 3]);
  expect(chosen()).toEqual(new Set(["primary"]));
  await opened.look();
  stage.drawn = 0.2;
  expect(opened.choose(0n).name).toBe("one");
  stage.drawn = 0.3;
  expect(opened.choose(0n).name).toBe("two");
});

it("one that is down or failed a read is left at once, and taken back after two good looks", async () => {
  const { at, opened, changes, chosen } = openStage();
  await opened.look();
  at.one = null;
  await opened.look();
  expect(chosen()).toEqual(new Set(["two"]));
  at.one = 10n;
  await opened.look();
  expect(chosen()).toEqual(new Set(["two"]));
  await opened.look();
  expect(chosen()).toEqual(new Set(["one", "two"]));
  expect(changes).toEqual(["one used", "two used", "one left", "one used"]);
});

it("one that is too far behind is left, and taken back at half of that lag", async () => {
  const { at, stage, opened, chosen } = openStage();
  await opened.look();
  at.primary = 20n;
  at.two = 20n;
  await opened.look();
  expect(chosen()).toEqual(new Set(["one", "two"]));
  stage.nowMs += 4_100;
  await opened.look();
  expect(opened.states()).toMatchObject([{ isUsed: false, lagSeconds: 4.1 }, { isUsed: true }]);
  expect(chosen()).toEqual(new Set(["two"]));
  at.one = 20n;
  await opened.look();
  await opened.look();
  expect(chosen()).toEqual(new Set(["one", "two"]));
});

it("a read with a position goes to a replica that has reached it, or soon may, else to the primary", async () => {
  const { at, stage, opened, chosen } = openStage();
  await opened.look();
  expect(chosen(11n)).toEqual(new Set(["one", "two"]));
  at.primary = 20n;
  at.two = 20n;
  await opened.look();
  expect(chosen(20n)).toEqual(new Set(["two"]));
  stage.nowMs += 1_000;
  at.two = 15n;
  await opened.look();
  expect(chosen(20n)).toEqual(new Set(["primary"]));
  expect(chosen()).toEqual(new Set(["one", "two"]));
});
