import { setTimeout as delay } from "node:timers/promises";
import { sql } from "kysely";
import type { Database, Session } from "#projections/database.ts";
import { isLockHeld } from "#projections/named-lock.ts";

/** Below the server's own second for deadlocks, so that nobody else's statement fails for this one. */
const LOCK_TIMEOUT_MS = 500;
const PAUSE_MS = 1_000;
const TRIES = 10;

/** Does work in a transaction that waits for locks for half a second at most: others wait for those behind it. */
export async function withLockTimeout<Result>(
  db: Database,
  work: (session: Session) => Promise<Result>,
): Promise<Result> {
  return await db.transaction().execute(async (session) => {
    await sql.raw(`set local lock_timeout = ${LOCK_TIMEOUT_MS}`).execute(session);
    return await work(session);
  });
}

/** Tries work until nobody holds what it needs. False: somebody did all the time. */
export async function retryWhileLocked(work: () => Promise<boolean>): Promise<boolean> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    try {
      if (await work()) return true;
    } catch (error) {
      if (!isLockHeld(error)) throw error;
    }
    await delay(PAUSE_MS);
  }
  return false;
}
