import { once } from "node:events";
import { coreIndexer } from "#projections/log/sources.ts";
import { readIndexerProgress } from "#projections/log/progress.ts";
import type { RpcBlock } from "#api/background/chain-reader/block-proof.ts";
import type { ChainReader } from "#api/background/chain-reader/chain-reader.ts";
import type { ReaderAddress } from "#api/background/chain-reader/serve-ponder.ts";
import { sleep } from "#jobs/runner/back-off.ts";
import { findFreePort } from "#ops/free-port.ts";
import { activateFirstSchema, activateSchema, readGeneration, waitForNewGeneration } from "./active-schema.ts";
import { findMismatchedBlock } from "./find-mismatched-block.ts";
import { type IndexingContext, secretsOf } from "./indexing.ts";
import { openRepeatFilter, readPonderLog } from "./ponder-log.ts";
import { startPonder } from "./ponder-process.ts";
import { ponderSettings } from "./ponder-settings.ts";
import { lockSchema } from "./schema-lock.ts";
import { schemaName } from "./schema-name.ts";
import type { ChainFaults } from "./tell-faults.ts";
import { trackProgress } from "./track-progress.ts";
import { waitUntilStalled } from "./wait-until-stalled.ts";

/** One run of Ponder, from the first block that the reader has to its exit. */
type PonderRun = {
  /** Its last error, in its own words. */
  ponderError?: string;
  /** `waiting` until the nodes and the database are usable; `live`: it follows new blocks. */
  reached: "waiting" | "started" | "live";
  logError: (message: string, reason: string) => void;
};

type RunPonderOptions = IndexingContext & {
  reader: ChainReader;
  /** The reader's, for Ponder. */
  address: ReaderAddress;
  /** Where it says why it stands still. */
  faults: ChainFaults;
  /** Called each time Ponder begins to follow new blocks. */
  onLive: () => void;
};

const firstDelayMs = 100;
/** Longest delay before a restart: after Ponder failed, and while the chain or the database is unavailable. */
const maxDelayMs = { started: 30_000, waiting: 2_000 };

/** Keeps an indexer's Ponder running until the signal. A failure does not affect other indexers. */
export async function runPonder(options: RunPonderOptions): Promise<void> {
  const { chain, indexer, logger, signal } = options;
  const { chainId } = chain;
  const isRepeated = openRepeatFilter();
  let delayMs = firstDelayMs;
  while (!signal.aborted) {
    const run: PonderRun = {
      reached: "waiting",
      logError: (message, reason) =>
        isRepeated(`${message} ${reason}`) || logger.error({ chainId, indexer, reason }, message),
    };
    const reason = await runOnce(options, run).catch(messageOf);
    if (signal.aborted) return;
    run.logError("indexing stopped", reason);
    options.faults.set(partOf(indexer), run.ponderError ?? reason);
    await sleep(delayMs, signal);
    delayMs =
      run.reached === "live" ? firstDelayMs : Math.min(delayMs * 2, maxDelayMs[run.reached]);
  }
}

/** Runs Ponder once. Returns the reason for its end. */
async function runOnce(options: RunPonderOptions, run: PonderRun): Promise<string> {
  const { chain, indexer, databaseUrl, db, logger, signal, reader, address } = options;
  const { chainId } = chain;
  const id = { chainId, indexer };
  if ((await firstHead(reader, signal)) === undefined) return "service is stopping";
  const mismatch = await findMismatchedBlock(db, reader);
  if (mismatch !== undefined) return mismatch;

  const generation = await readGeneration(db, id);
  const sources = await options.readSources();
  const schema = schemaName(sources, generation);
  const lock = await lockSchema(databaseUrl, schema, signal, logger);
  const ending = new AbortController();
  try {
    await activateFirstSchema(db, id, schema);
    signal.throwIfAborted();
    const onLine = logReader(options, schema, run);
    const port = await findFreePort();
    const settings = ponderSettings({ ...options, sources }, address);
    const isBackground = await isInBackground(options);
    signal.throwIfAborted();
    const ponder = startPonder({ schema, port, settings, onLine, isBackground });
    run.reached = "started";
    logger.info({ ...id, schema, ponderPid: ponder.pid }, "Ponder started");
    const isLive = () => run.reached === "live";
    void trackProgress(db, id, isLive, ending.signal);
    const reason = await Promise.race([
      ponder.exited.then((exit) => `Ponder exited (${exit})`),
      lock.lost.then(() => {
        ponder.kill();
        return "database connection lost";
      }),
      waitUntilStalled(db, { reader, indexer, schema, isLive }, ending.signal),
      waitForNewGeneration(db, id, generation, ending.signal),
      once(signal, "abort", { signal: ending.signal }).then(() => "service is stopping"),
    ]);
    await ponder.stop();
    return reason;
  } finally {
    ending.abort();
    await lock.release();
  }
}

/** An added source's history is indexed in the background. */
async function isInBackground({
  chain: { chainId },
  indexer,
  db,
}: RunPonderOptions): Promise<boolean> {
  if (indexer === coreIndexer) return false;
  const progress = await readIndexerProgress(db, { chainId, indexer });
  return progress?.isCaughtUp !== true;
}

function logReader(options: RunPonderOptions, schema: string, run: PonderRun) {
  const { chain, indexer, db, logger, onLive } = options;
  const { chainId } = chain;
  return readPonderLog({
    chainId,
    indexer,
    logger,
    secrets: secretsOf(options),
    onError: (text) => {
      run.ponderError = text;
    },
    onLive: () => {
      run.reached = "live";
      options.faults.delete(partOf(indexer));
      activateSchema(db, { chainId, indexer }, schema).then(onLive, (error: unknown) =>
        logger.error({ err: error, chainId, indexer, schema }, "schema activation failed"),
      );
    },
  });
}

/** The reader's first head; undefined when the signal comes before it. */
async function firstHead(reader: ChainReader, signal: AbortSignal): Promise<RpcBlock | undefined> {
  const stopped = new AbortController();
  const aborted = once(signal, "abort", { signal: stopped.signal }).catch(() => {});
  try {
    return await Promise.race([reader.heads.first, aborted.then(() => undefined)]);
  } finally {
    stopped.abort();
  }
}

const partOf = (indexer: string): string => `Ponder of ${indexer}`;

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : `${error}`);
