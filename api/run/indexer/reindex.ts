import { detachRemoved } from "../../../projections/log/sources.ts";
import { readGeneration, startGeneration } from "./active-schema.ts";
import { checkRpcs } from "./check-rpcs.ts";
import type { IndexedSources } from "./indexed-sources.ts";
import { type IndexingContext, secretsOf } from "./indexing.ts";
import { readPonderLog } from "./ponder-log.ts";
import { startPonder } from "./ponder-process.ts";
import { ponderSettings } from "./ponder-settings.ts";
import { lockSchema } from "./schema-lock.ts";
import { schemaName } from "./schema-name.ts";

/**
 * Indexes an indexer's sources again from Ponder's cache into a new schema while the active one is still used. When the
 * new one follows new blocks, the recorder and a running indexer switch to it; sources that were removed are not in it.
 * An interrupted reindex continues where it stopped. Returns the name of the new schema.
 */
export async function reindexChain(options: IndexingContext): Promise<string> {
  const { chain, indexer, databaseUrl, db, logger, signal } = options;
  const id = { chainId: chain.chainId, indexer };
  const generation = (await readGeneration(db, id)) + 1;
  const sources = await options.readSources();
  const schema = schemaName(sources, generation);
  const lock = await lockSchema(databaseUrl, schema, signal, logger);
  try {
    await runUntilLive(options, sources, schema);
    await db.transaction().execute(async (session) => {
      await startGeneration(session, id, { schema, generation });
      await detachRemoved(session, id);
    });
    return schema;
  } finally {
    await lock.release();
  }
}

/** Runs Ponder until it follows new blocks. Throws when it exits before. */
async function runUntilLive(
  options: IndexingContext,
  sources: IndexedSources,
  schema: string,
): Promise<void> {
  const { chain, indexer, logger, signal } = options;
  const rpcs = await checkRpcs(chain);
  if (rpcs.rpcUrls.length === 0) throw new Error("none of the chain's RPCs can be used");
  let onLive = () => {};
  const live = new Promise<"live">((resolve) => {
    onLive = () => resolve("live");
  });
  const ponder = startPonder(
    schema,
    ponderSettings({ ...options, sources }, rpcs),
    readPonderLog({ chainId: chain.chainId, indexer, logger, secrets: secretsOf(options), onLive }),
  );
  const stop = () => void ponder.stop();
  signal.addEventListener("abort", stop, { once: true });
  const end = await Promise.race([live, ponder.exited]);
  signal.removeEventListener("abort", stop);
  await ponder.stop();
  if (end !== "live") throw new Error(`Ponder exited before it followed new blocks (${end})`);
}
