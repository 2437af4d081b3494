import { sql } from "kysely";
import type { Logger } from "pino";
import { keccak256, stringToHex } from "viem";
import { appendObservations, type Observation } from "#projections/log/append.ts";
import type { Database } from "#projections/log/database.ts";
import { readClock, readNextBoundary } from "#projections/orders/clock.ts";
import type { Job, Waker } from "../runner/job.ts";

const waitMs = 60_000;
const retryMs = 1_000;

type ClockOptions = {
  db: Database;
  /** Notified when the projections have advanced: a new order may start or end before all others. */
  changeSignal: Waker;
  logger: Logger;
  /** Unix milliseconds. */
  readTime?: () => number;
};

/**
 * Appends `clock_ticked` when time passes the start or end of an order, and once a minute, by which sales leave the periods
 * of figures, so that projections derive them again. One fact covers every boundary up to its time.
 */
export function clockTicks(options: ClockOptions): Job {
  const { db, changeSignal, logger, readTime = () => Date.now() } = options;
  const mayAppend = openClockGuard(db, logger);
  let clock: bigint | undefined;
  return {
    name: "clock ticks",
    every: waitMs,
    wakesOn: changeSignal,
    reads: ["listings", "bids"],
    retry: { firstMs: retryMs, mostMs: retryMs, isWoken: true },
    async run() {
      clock ??= await readClock(db);
      const boundary = earlier(await readNextBoundary(db, clock), (clock / 60n + 1n) * 60n);
      const now = readTime();
      if (Number(boundary) * 1000 > now) return msUntilBoundary(boundary, now);
      if (!(await mayAppend(now))) return retryMs;
      const tick = BigInt(Math.floor(now / 1000));
      await appendObservations(db, [clockTicked(tick, new Date(now))]);
      clock = tick;
      return "more";
    },
  };
}

/** One millisecond after the boundary: timers may fire early. */
function msUntilBoundary(boundary: bigint, now: number): number {
  return Math.min(Number(boundary) * 1000 - now + 1, waitMs);
}

const earlier = (one: bigint | null, other: bigint): bigint =>
  one !== null && one < other ? one : other;

function clockTicked(unixSeconds: bigint, at: Date): Observation {
  return {
    kind: "clock_ticked",
    chainId: 0,
    identity: keccak256(stringToHex(`clock_ticked/${unixSeconds}`)),
    recordedAt: at,
    amount: unixSeconds,
  };
}

/** How far ahead of the database's clock a time may be that is appended. */
const maxAheadMs = 15 * 60_000;

/** Whether a time of this machine's clock may be appended. */
export type ClockGuard = (unixMs: number) => Promise<boolean>;

/**
 * Compares times with the database's clock: a tick or snapshot is never retracted and the latest one counts for ever, so
 * that a clock that was a year ahead for a second would end all orders. Logs once until the clock is right again.
 */
export function openClockGuard(db: Database, logger: Logger): ClockGuard {
  let isAhead = false;
  return async (unixMs) => {
    const { rows } = await sql<{ unixMs: number }>`
      select (extract(epoch from clock_timestamp()) * 1000)::float8 as "unixMs"`.execute(db);
    const aheadMs = Math.round(unixMs - (rows[0]?.unixMs ?? 0));
    const wasAhead = isAhead;
    isAhead = aheadMs > maxAheadMs;
    if (isAhead && !wasAhead)
      logger.error({ aheadMs, maxAheadMs }, "clock is ahead of the database's, time not appended");
    return !isAhead;
  };
}
