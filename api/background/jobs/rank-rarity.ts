import type { Logger } from "pino";
import type { Database } from "../../../projections/database.ts";
import { readOutdatedRankings } from "../../../projections/reads/rarity/outdated-rankings.ts";
import { rankCollection } from "../../../projections/reads/rarity/rank-collection.ts";
import { sleep } from "../log-signal/back-off.ts";
import type { Signal } from "../log-signal/signal.ts";

const pollMs = 5_000;
const retryMs = 5_000;
/** Minimum time between passes: while metadata is fetched every tick of the projections notifies. */
const pauseMs = 1_000;

/** A collection cools down for this many times the duration of its ranking. */
const cooldownFactor = 30;

type RankingOptions = {
  db: Database;
  /** Notified when the projections have advanced. */
  changeSignal: Signal;
  logger: Logger;
  signal: AbortSignal;
};

/** Recomputes rarity ranks of collections whose tokens' traits have changed. */
export async function runRarityRanking({
  db,
  changeSignal,
  logger,
  signal,
}: RankingOptions): Promise<void> {
  const coolingDown = new Map<number, number>();
  while (!signal.aborted) {
    try {
      const ranked = await rankStaleCollections(db, coolingDown, signal);
      if (ranked > 0) logger.debug({ collections: ranked }, "collections ranked");
      await changeSignal.wait(pollMs, signal);
      await sleep(pauseMs, signal);
    } catch (error) {
      logger.error({ err: error }, "ranking collections failed, retrying");
      await changeSignal.wait(retryMs, signal);
    }
  }
}

/** `coolingDown`: end of each collection's cooldown (Date.now). */
async function rankStaleCollections(
  db: Database,
  coolingDown: Map<number, number>,
  signal: AbortSignal,
): Promise<number> {
  let ranked = 0;
  for (const { collectionId } of await readOutdatedRankings(db)) {
    if (signal.aborted) break;
    if ((coolingDown.get(collectionId) ?? 0) > Date.now()) continue;
    const startedAt = performance.now();
    await rankCollection(db, collectionId);
    coolingDown.set(collectionId, Date.now() + cooldownFactor * (performance.now() - startedAt));
    ranked += 1;
  }
  return ranked;
}
