import { openDatabase } from "../../../projections/database.ts";
import { indexedSources } from "../indexer/indexed-sources.ts";
import { runPonder } from "../indexer/run-ponder.ts";
import { migrateOrWait } from "./migrate-or-wait.ts";
import type { RoleContext, RunningRole } from "./role.ts";

/** One Ponder process per chain, each in its own schema; they share Ponder's cache of chain data. */
export async function runRole({ config, logger, signal }: RoleContext): Promise<RunningRole> {
  const { url } = config.database;
  const db = openDatabase({
    url,
    applicationName: "indexer",
    max: 4,
    onIdleError: (error) => logger.warn({ err: error }, "database connection lost"),
  });
  const stopping = new AbortController();
  signal.addEventListener("abort", () => stopping.abort());
  await migrateOrWait(db, logger, signal);

  const chains = config.chains.map((chain) => {
    const sources = indexedSources(chain, config.curated);
    let finished = Promise.resolve();
    const live = new Promise<void>((onLive) => {
      const signal = stopping.signal;
      finished = runPonder({ chain, sources, databaseUrl: url, db, logger, signal, onLive });
    });
    return { live, finished };
  });
  const finished = Promise.all(chains.map((chain) => chain.finished));
  return {
    ready: Promise.all(chains.map((chain) => chain.live)).then(() => {}),
    failed: finished.then(() => new Promise<never>(() => {})),
    async stop() {
      stopping.abort();
      await finished.catch(() => {});
      await db.destroy();
    },
  };
}
