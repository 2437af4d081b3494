import { openDatabase } from "../../../projections/database.ts";
import { migrate } from "../../../projections/log/migrate.ts";
import { indexedSources } from "../indexer/indexed-sources.ts";
import { runPonder } from "../indexer/run-ponder.ts";
import type { RoleContext, Running } from "./role.ts";

/** One Ponder per chain, each in a schema of its own on the shared cache of chain data. */
export async function runRole({ config, logger, signal }: RoleContext): Promise<Running> {
  const { url } = config.database;
  const db = openDatabase({
    url,
    applicationName: "indexer",
    max: 4,
    onIdleError: (error) => logger.warn(`database: ${error.message}`),
  });
  const stopping = new AbortController();
  signal.addEventListener("abort", () => stopping.abort());
  await migrate(db);

  const chains = config.chains.map((chain) => {
    const sources = indexedSources(chain, config.curated);
    let kept = Promise.resolve();
    const live = new Promise<void>((onLive) => {
      const signal = stopping.signal;
      kept = runPonder({ chain, sources, databaseUrl: url, db, logger, signal, onLive });
    });
    return { live, over: kept };
  });
  const over = Promise.all(chains.map((chain) => chain.over));
  return {
    ready: Promise.all(chains.map((chain) => chain.live)).then(() => {}),
    failed: over.then(() => new Promise<never>(() => {})),
    async stop() {
      stopping.abort();
      await over.catch(() => {});
      await db.destroy();
    },
  };
}
