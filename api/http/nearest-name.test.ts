import { describe, expect, it } from "vitest";
import { nearestName } from "./query.ts";

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
