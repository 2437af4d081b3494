import { expect, it } from "vitest";
import { z } from "zod";
import { commaList } from "./query.ts";

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
