import type { Logger } from "pino";
import { keccak256, stringToHex } from "viem";
import type { Database } from "../../../projections/database.ts";
import { appendObservations, type Observation } from "../../../projections/log/append.ts";
import { readClock, readNextBoundary } from "../../../projections/order-state/clock.ts";
import type { Wake } from "../log-signal/wake.ts";

const longestWaitMs = 60_000;
const retryMs = 1_000;

type Work = {
  db: Database;
  /** Rung when the projections have moved: a new order may begin or end before all others. */
  wake: Wake;
  logger: Logger;
  signal: AbortSignal;
};

/**
 * Tells the log that time has passed a moment at which an order begins or ends, so that what is counted and what is
 * superseded follows. One fact stands for every moment up to it.
 */
export async function keepClock({ db, wake, logger, signal }: Work): Promise<void> {
  let clock = await readClock(db);
  while (!signal.aborted) {
    try {
      const boundary = await readNextBoundary(db, clock);
      const now = Date.now();
      if (boundary !== null && Number(boundary) * 1000 <= now) {
        clock = BigInt(Math.floor(now / 1000));
        await appendObservations(db, [clockTicked(clock, new Date(now))]);
      } else {
        await wake.wait(waitMs(boundary, now), signal);
      }
    } catch (error) {
      logger.error({ err: error }, "the clock cannot be told, trying again");
      await wake.wait(retryMs, signal);
    }
  }
}

/** Past the boundary, not just before it: timers may fire early. */
function waitMs(boundary: bigint | null, now: number): number {
  if (boundary === null) return longestWaitMs;
  return Math.min(Number(boundary) * 1000 - now + 1, longestWaitMs);
}

function clockTicked(unixSeconds: bigint, at: Date): Observation {
  return {
    kind: "clock_ticked",
    chainId: 0,
    identity: keccak256(stringToHex(`clock_ticked/${unixSeconds}`)),
    recordedAt: at,
    amount: unixSeconds,
  };
}
