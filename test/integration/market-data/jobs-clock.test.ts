import { sql } from "kysely";
import { pino } from "pino";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { floorSnapshots } from "#jobs/collections/snapshot-floors.ts";
import { clockTicks } from "#jobs/recording/clock-ticks.ts";
import { runJobs } from "#jobs/runner/run-jobs.ts";
import { createSignal } from "#jobs/runner/signals.ts";
import { kindLiteral } from "#projections/log/fact-kinds.ts";
import { readClock } from "#projections/orders/clock.ts";
import {
  type OrderReadsFixture,
  openOrderReads,
} from "#test/support/orders/order-reads-fixture.ts";

const yearMs = 365 * 86_400_000;

let book: OrderReadsFixture;
let ending: AbortController;
let errors: string[];
beforeAll(async () => {
  book = await openOrderReads();
  return () => book.close();
});
afterEach(() => ending.abort());

/** Options of a job that runs until the test ends, on a machine whose clock is that far ahead. */
function ahead(aheadMs: () => number) {
  ending = new AbortController();
  errors = [];
  const write = (line: string) => void errors.push((JSON.parse(line) as { msg: string }).msg);
  return {
    ...{ db: book.db, logger: pino({ level: "error" }, { write }) },
    readTime: () => Date.now() + aheadMs(),
  };
}

const refused = "clock is ahead of the database's, time not appended";
const nowSeconds = () => BigInt(Math.floor(Date.now() / 1_000));

async function snapshots(): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from log.fact where kind = ${kindLiteral("floor_snapshotted")}`.execute(
    book.db,
  );
  return rows[0]?.count ?? 0;
}

describe("a machine whose clock is a year ahead", () => {
  it("ends no orders, and goes on once its clock is right", async () => {
    let aheadMs = yearMs;
    const before = await readClock(book.db);
    const options = { ...ahead(() => aheadMs), changeSignal: createSignal() };
    const run = runJobs(clockTicks(options), { ...options, signal: ending.signal });
    await expect.poll(() => errors).toEqual([refused]);
    // Several tries later.
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    expect([await readClock(book.db), errors]).toEqual([before, [refused]]);

    aheadMs = 60_000;
    await expect.poll(() => readClock(book.db)).toBeGreaterThan(before);
    expect(await readClock(book.db)).toBeLessThanOrEqual(nowSeconds() + 60n);
    ending.abort();
    await run;
  });

  it("takes no snapshots of floors, and goes on once its clock is right", async () => {
    let aheadMs = yearMs;
    const before = await snapshots();
    const options = { ...ahead(() => aheadMs), chainIds: [1 as const] };
    const run = runJobs(floorSnapshots(options), { ...options, signal: ending.signal });
    await expect.poll(() => errors).toEqual([refused]);
    expect(await snapshots()).toBe(before);

    aheadMs = 0;
    await expect.poll(snapshots).toBeGreaterThan(before);
    ending.abort();
    await run;
  });
});
