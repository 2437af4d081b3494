import fc from "fast-check";
import { expect, it } from "vitest";
import { rowsOfTokenSet } from "./token-sets.ts";

it("a set is charged with its chunks, and with its ids' text", () => {
  const ids = (count: number, apart: bigint) =>
    Array.from({ length: count }, (_, n) => BigInt(n) * apart);
  expect(rowsOfTokenSet([7n])).toBe(2);
  expect(rowsOfTokenSet(ids(10_000, 1n))).toBe(10 + 200);
  expect(rowsOfTokenSet(ids(10_000, 2n ** 200n))).toBe(10_000 + 200);
});

it("a set is never charged with less than its chunks", () => {
  const ids = fc.uniqueArray(fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }), {
    minLength: 1,
    maxLength: 300,
  });
  fc.assert(
    fc.property(ids, (tokenIds) => {
      const chunks = new Set(tokenIds.map((id) => id >> 10n)).size;
      expect(rowsOfTokenSet(tokenIds)).toBeGreaterThan(chunks);
    }),
  );
});

it("ids that are equal in their low bits take no longer than others", () => {
  const millisOf = (apart: bigint) => {
    const tokenIds = Array.from({ length: 10_000 }, (_, n) => BigInt(n) * apart);
    const from = performance.now();
    rowsOfTokenSet(tokenIds);
    return performance.now() - from;
  };
  millisOf(1n);
  expect(millisOf(2n ** 200n)).toBeLessThan(20 * millisOf(1n) + 100);
});
