import { describe, expect, it } from "vitest";
import { z } from "zod";
import { commaList, nearestName } from "./query.ts";

it("takes words apart, and refuses a long text as one fault, whatever its words are", () => {
  const list = commaList(20).pipe(z.array(z.enum(["sale", "mint"])));

  expect(list.parse("sale,mint")).toEqual(["sale", "mint"]);
  expect(list.safeParse("a,b").error?.issues).toHaveLength(2);
  expect(list.safeParse("a,".repeat(5_000)).error?.issues).toEqual([
    expect.objectContaining({ message: "must be at most 20 characters long" }),
  ]);
});

it("takes a parameter that is given several times for one list", () => {
  const list = commaList(20);
  expect(list.parse(["sale", "mint,burn"])).toEqual(["sale", "mint", "burn"]);
  expect(list.safeParse(Array(11).fill("a")).success).toBe(false);
});

const known = ["chainId", "collection", "token_id", "min_price", "max_price", "sort", "per_page"];

describe("the nearest name", () => {
  it.each([
    ["chainID", "chainId"],
    ["chainid", "chainId"],
    ["chain_id", "chainId"],
    ["chianId", "chainId"],
    ["chain", "chainId"],
    ["colection", "collection"],
    ["collections", "collection"],
    ["tokenId", "token_id"],
    ["minPrice", "min_price"],
    ["perPage", "per_page"],
    ["per-page", "per_page"],
    ["srot", "sort"],
    [" sort", "sort"],
  ])("of %s is %s", (typed, meant) => expect(nearestName(typed, known)).toBe(meant));

  it.each(["utm_source", "foo", "", "hasOwnProperty", "x".repeat(5_000)])(
    "of %j is none",
    (typed) => expect(nearestName(typed, known)).toBeUndefined(),
  );

  it("is found after any one change of any name", () => {
    for (const name of known) {
      for (let at = 0; at < name.length; at++) {
        const [before, after] = [name.slice(0, at), name.slice(at + 1)];
        expect(nearestName(before + after, known)).toBe(name);
        expect(nearestName(`${before}z${after}`, known)).toBe(name);
        expect(nearestName(`${before}z${name[at]}${after}`, known)).toBe(name);
        const swapped = `${before}${after[0] ?? ""}${name[at]}${after.slice(1)}`;
        expect(nearestName(swapped, known)).toBe(name);
      }
    }
  });
});
