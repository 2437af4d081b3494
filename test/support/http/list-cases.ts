import { describe, expect, it } from "vitest";
import {
  expected,
  hashOf,
  none,
  type OrderPredicate,
  type OrderReadsFixture,
  sorts,
} from "../orders/order-reads-fixture.ts";
import { earlyEnd, openedAt, type SeededOrder } from "../orders/seeded-orders.ts";
import { seedsOf } from "../thoroughness.ts";

/** Declares the tests of a list: each filter under each sort, before and after some orders end. */
export function itLists(
  book: () => OrderReadsFixture,
  path: string,
  from: readonly SeededOrder[],
  cases: readonly [string, OrderPredicate][],
): void {
  describe.each(Object.keys(sorts))("sorted by %s", (sort) => {
    it.each(cases)("lists %s, the same by pages and by cursors", async (query, keep) => {
      for (const timestamp of seedsOf([earlyEnd, openedAt, earlyEnd - 1n])) {
        book().at(timestamp);
        const url = `${path}?${query}&sort=${sort}&per_page=17`;
        const walked = await book().readAllByCursor(url);
        const hashes = expected(from, keep, sort, timestamp);
        expect(hashes.length > 0).toBe(keep !== none);
        expect(walked.rows.map(hashOf)).toEqual(hashes);
        expect(walked.total).toBe(walked.rows.length);
        if (timestamp === earlyEnd) expect(await book().readAllByPage(url)).toEqual(walked.rows);
      }
    });
  });
}
