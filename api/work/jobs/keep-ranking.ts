import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "pino";
import type { Database } from "../../../projections/database.ts";
import { rankCollection } from "../../../projections/reads/rarity/rank-collection.ts";
import { readStaleRankings } from "../../../projections/reads/rarity/stale.ts";
import type { Wake } from "../log-signal/wake.ts";

const pollMs = 5_000;
const retryMs = 5_000;
/** While metadata comes in, every tick of the projections rings. */
const pauseMs = 1_000;

/** A collection that changes all the time is ranked for at most one part in so many of it. */
const restsPerRanking = 30;

type Work = {
  db: Database;
  /** Rung when the projections have moved. */
  wake: Wake;
  logger: Logger;
  signal: AbortSignal;
};

/** Ranks collections anew when the traits of their tokens have changed. */
export async function keepRanking({ db, wake, logger, signal }: Work): Promise<void> {
  const resting = new Map<number, number>();
  while (!signal.aborted) {
    try {
      const ranked = await rankStale(db, resting, signal);
      if (ranked > 0) logger.debug(`ranked ${ranked} collections by rarity`);
      await wake.wait(pollMs, signal);
      await delay(pauseMs, undefined, { signal }).catch(() => undefined);
    } catch (error) {
      logger.error({ err: error }, "collections are not ranked, trying again");
      await wake.wait(retryMs, signal);
    }
  }
}

/** `resting`: until when (Date.now) a collection is left alone. */
async function rankStale(
  db: Database,
  resting: Map<number, number>,
  signal: AbortSignal,
): Promise<number> {
  let ranked = 0;
  for (const { collectionId } of await readStaleRankings(db)) {
    if (signal.aborted) break;
    if ((resting.get(collectionId) ?? 0) > Date.now()) continue;
    const begunAt = performance.now();
    await rankCollection(db, collectionId);
    resting.set(collectionId, Date.now() + restsPerRanking * (performance.now() - begunAt));
    ranked += 1;
  }
  return ranked;
}
