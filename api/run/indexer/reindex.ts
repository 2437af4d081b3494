import { beginGeneration, readGeneration } from "./active-schema.ts";
import { chooseRpcs } from "./choose-rpcs.ts";
import { type Indexing, secretsOf } from "./indexing.ts";
import { readPonderLog } from "./ponder-log.ts";
import { startPonder } from "./ponder-process.ts";
import { ponderSettings } from "./ponder-settings.ts";
import { leaseSchema } from "./schema-lease.ts";
import { schemaName } from "./schema-name.ts";

/**
 * Indexes a chain anew from the store into a schema beside the serving one, which goes on meanwhile. When the new one
 * follows new blocks, the recorder and a running indexer move over to it. Cut off, it goes on where it stood. Returns
 * the new schema's name.
 */
export async function reindexChain(options: Indexing): Promise<string> {
  const { chain, sources, databaseUrl, db, logger, signal } = options;
  const generation = (await readGeneration(db, chain.chainId)) + 1;
  const schema = schemaName(sources, generation);
  const lease = await leaseSchema(databaseUrl, schema, signal, logger);
  try {
    await untilLive(options, schema);
    await beginGeneration(db, chain.chainId, { schema, generation });
    return schema;
  } finally {
    await lease.release();
  }
}

/** Runs Ponder until it follows new blocks. Throws when it ends before. */
async function untilLive(options: Indexing, schema: string): Promise<void> {
  const { chain, logger, signal } = options;
  const rpcs = await chooseRpcs(chain);
  if (rpcs.rpcUrls.length === 0) throw new Error("none of its RPCs can be used");
  let onLive = () => {};
  const live = new Promise<"live">((resolve) => {
    onLive = () => resolve("live");
  });
  const ponder = startPonder(
    schema,
    ponderSettings(options, rpcs),
    readPonderLog({ chainId: chain.chainId, logger, secrets: secretsOf(options), onLive }),
  );
  const stop = () => void ponder.stop();
  signal.addEventListener("abort", stop, { once: true });
  const end = await Promise.race([live, ponder.exited]);
  signal.removeEventListener("abort", stop);
  await ponder.stop();
  if (end !== "live") throw new Error(`Ponder ended before it followed new blocks (${end})`);
}
