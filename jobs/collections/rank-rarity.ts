import type { Logger } from "pino";
import type { Database } from "#projections/log/database.ts";
import { rankCollection } from "#projections/traits/rank-collection.ts";
import { readOutdatedRankings } from "#projections/traits/read-outdated-rankings.ts";
import { sleep } from "../runner/back-off.ts";
import type { Job, Waker } from "../runner/job.ts";

const pollMs = 5_000;
const retryMs = 5_000;
/** Minimum time between passes: while metadata is fetched every tick of the projections notifies. */
const pauseMs = 1_000;

/** A collection cools down for this many times the duration of its ranking. */
const cooldownFactor = 30;

type RankingOptions = {
  db: Database;
  /** Notified when the projections have advanced. */
  changeSignal: Waker;
  logger: Logger;
};

/** Recomputes rarity ranks of collections whose tokens' traits have changed. */
export function rarityRanking({ db, changeSignal, logger }: RankingOptions): Job {
  const coolingDown = new Map<number, number>();
  return {
    name: "rarity",
    every: pollMs,
    wakesOn: {
      async wait(atMostMs, signal) {
        await changeSignal.wait(atMostMs, signal);
        await sleep(pauseMs, signal);
      },
    },
    reads: ["collections", "traits"],
    retry: { firstMs: retryMs, mostMs: retryMs, isWoken: true },
    async run(signal) {
      const ranked = await rankStaleCollections(db, coolingDown, signal);
      if (ranked > 0) logger.debug({ collections: ranked }, "collections ranked");
    },
  };
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
