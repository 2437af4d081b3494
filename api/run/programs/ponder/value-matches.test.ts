import { expect, test } from "vitest";
import { isValueMatched } from "./value-matches.ts";

const seaport = "0x0000000000000068f116a894984e2db1123eb395";
const others = Array.from({ length: 3_000 }, (_, nth) => `0x${`${nth}`.padStart(40, "0")}`);

test("a filter takes a value in whichever case it is written, and none that it does not list", () => {
  const checksummed = seaport.replace("f116a894984e2db1123eb395", "F116A894984e2DB1123eB395");
  for (const value of [seaport, checksummed]) {
    expect(isValueMatched(seaport, value)).toBe(true);
    expect(isValueMatched([...others, seaport], value)).toBe(true);
    expect(isValueMatched(others, value)).toBe(false);
    expect(isValueMatched(others[7], value)).toBe(false);
  }
  for (const other of others) expect(isValueMatched(others, other)).toBe(true);
});

test("a filter without a value takes all, one with a value no log that has none", () => {
  for (const value of [seaport, undefined]) {
    expect(isValueMatched(null, value)).toBe(true);
    expect(isValueMatched(undefined, value)).toBe(true);
  }
  expect(isValueMatched(seaport, undefined)).toBe(false);
  expect(isValueMatched([], seaport)).toBe(false);
});
