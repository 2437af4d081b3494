import { sleep } from "#jobs/runner/back-off.ts";
import { readIndexedBlock } from "#projections/log/progress.ts";
import { detachRemoved } from "#projections/log/sources.ts";
import { findFreePort } from "../free-port.ts";
import { openChainReader } from "../reader/chain-reader.ts";
import { serveReader } from "../reader/serve-ponder.ts";
import type { IndexedSources } from "./indexed-sources.ts";
import { readPonderLog } from "./ponder-log.ts";
import { type IndexingContext, ponderSettings, secretsOf, startPonder } from "./ponder-process.ts";
import { lockSchema, readGeneration, schemaName, startGeneration } from "./ponder-schema.ts";

const pollMs = 500;

export type ReindexOptions = IndexingContext & {
  /** Called with the last block that was indexed into the new schema, while it is indexed. */
  onProgress: (block: number) => void;
};

/**
 * Indexes an indexer's sources again from Ponder's cache into a new schema while the active one is still used. When the
 * new one follows new blocks, the recorder and a running indexer switch to it; sources that were removed are not in it.
 * An interrupted reindex continues where it stopped. Returns the name of the new schema.
 */
export async function reindexChain(options: ReindexOptions): Promise<string> {
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
  options: ReindexOptions,
  sources: IndexedSources,
  schema: string,
): Promise<void> {
  const { chain, indexer, logger, signal } = options;
  const reading = new AbortController();
  const reader = openChainReader({ ...chain, signal: AbortSignal.any([signal, reading.signal]) });
  const served = await serveReader(reader, reading.signal);
  let onLive = () => {};
  const live = new Promise<"live">((resolve) => {
    onLive = () => resolve("live");
  });
  const { chainId } = chain;
  const ponder = startPonder({
    schema,
    port: await findFreePort(),
    settings: ponderSettings({ ...options, sources }, served),
    onLine: readPonderLog({ chainId, indexer, logger, secrets: secretsOf(options), onLive }),
  });
  const stop = () => void ponder.stop();
  signal.addEventListener("abort", stop, { once: true });
  const reporting = new AbortController();
  void reportProgress(options, schema, reporting.signal);
  const end = await Promise.race([live, ponder.exited]);
  reporting.abort();
  signal.removeEventListener("abort", stop);
  await ponder.stop();
  reading.abort();
  if (end !== "live") throw new Error(`Ponder exited before it followed new blocks (${end})`);
  // A short history is over before progress is looked at.
  const block = await readIndexedBlock(options.db, schema, chainId);
  if (block !== null) options.onProgress(block);
}

async function reportProgress(
  { db, chain, onProgress }: ReindexOptions,
  schema: string,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    // Ponder makes its tables while it starts.
    const block = await readIndexedBlock(db, schema, chain.chainId).catch(() => null);
    if (block !== null && !signal.aborted) onProgress(block);
    await sleep(pollMs, signal);
  }
}
