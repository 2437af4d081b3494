import { describe, expect, it } from "vitest";
import { finalityOf } from "./follow-finality.ts";

const byTag = (number: number, deepest: number) => ({ number, saidBy: "tag", deepest }) as const;

describe("what is final on a chain", () => {
  const finalityBlocks = 64;

  it.each([
    ["the tag", 1_000, [900], null, { ...byTag(900, 100), fault: null }],
    [
      "the lowest of several nodes",
      1_000,
      [940, 900, null],
      null,
      { ...byTag(900, 100), fault: null },
    ],
    ["nothing above the followed head", 1_000, [1_003], null, { ...byTag(1_000, 0), fault: null }],
    [
      "not what a node says that stands still",
      1_100,
      [900, 990],
      byTag(950, 90),
      { ...byTag(990, 110), fault: null },
    ],
    [
      "a depth where no node says",
      1_000,
      [null],
      null,
      { number: 936, saidBy: "depth", deepest: 0, fault: null },
    ],
  ] as const)("is %s", (_, head, tags, known, expected) => {
    expect(finalityOf(head, tags, { known, finalityBlocks })).toEqual(expected);
  });

  it("stays final when the tag goes back, which is said", () => {
    const next = finalityOf(1_100, [800], { known: byTag(950, 90), finalityBlocks });
    expect(next).toMatchObject(byTag(950, 90));
    expect(next.fault).toContain("800");
  });

  it("is never nearer to the head than the tag was seen, once no node serves it, which is said", () => {
    const known = byTag(950, 130);
    const next = finalityOf(1_200, [null, null], { known, finalityBlocks });
    expect(next).toMatchObject({ number: 1_070, saidBy: "depth", deepest: 130 });
    expect(next.fault).not.toBe(null);
    expect(finalityOf(1_010, [null], { known, finalityBlocks }).number).toBe(950);
  });
});
