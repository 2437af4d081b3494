import type { Logger } from "pino";
import type { Database } from "../../projections/database.ts";
import type { ChainConfig } from "../config.ts";
import { beginGeneration, readGeneration } from "./active-schema.ts";
import { chooseRpcs } from "./choose-rpcs.ts";
import type { IndexedSources } from "./indexed-sources.ts";
import { readPonderLog } from "./ponder-log.ts";
import { startPonder } from "./ponder-process.ts";
import { ponderSettings } from "./ponder-settings.ts";
import { leaseSchema } from "./schema-lease.ts";
import { schemaName } from "./schema-name.ts";

type Options = {
  chain: ChainConfig;
  sources: IndexedSources;
  databaseUrl: string;
  db: Database;
  logger: Logger;
  signal: AbortSignal;
};

/**
 * Indexes a chain anew from the store into a schema beside the serving one, which goes on meanwhile. When the new one
 * follows new blocks, the recorder and a running indexer move over to it. Cut off, it goes on where it stood. Returns
 * the new schema's name.
 */
export async function reindexChain(options: Options): Promise<string> {
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
async function untilLive(options: Options, schema: string): Promise<void> {
  const { chain, databaseUrl, logger, signal } = options;
  const rpcs = await chooseRpcs(chain);
  if (rpcs.rpcUrls.length === 0) throw new Error("none of its RPCs can be used");
  let onLive = () => {};
  const live = new Promise<"live">((resolve) => {
    onLive = () => resolve("live");
  });
  const secrets = [databaseUrl, ...chain.rpcUrls, ...(chain.wsUrl === null ? [] : [chain.wsUrl])];
  const ponder = startPonder(
    schema,
    ponderSettings(options, rpcs),
    readPonderLog({ chainId: chain.chainId, logger, secrets, onLive }),
  );
  const stop = () => void ponder.stop();
  signal.addEventListener("abort", stop, { once: true });
  const end = await Promise.race([live, ponder.exited]);
  signal.removeEventListener("abort", stop);
  await ponder.stop();
  if (end !== "live") throw new Error(`Ponder ended before it followed new blocks (${end})`);
}
