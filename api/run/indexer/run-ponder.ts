import { once } from "node:events";
import { coreIndexer } from "../../../projections/log/indexer-id.ts";
import { readIndexerProgress } from "../../../projections/log/indexer-progress.ts";
import { sleep } from "../../background/log-signal/back-off.ts";
import type { ChainConfig } from "../config/chain-config.ts";
import { findFreePort } from "../free-port.ts";
import {
  activateFirstSchema,
  activateSchema,
  readGeneration,
  waitForNewGeneration,
} from "./active-schema.ts";
import { type CheckedRpcs, checkRpcs } from "./check-rpcs.ts";
import { countPonderCalls } from "./count-ponder-calls.ts";
import { findMismatchedBlock } from "./find-mismatched-block.ts";
import { openHeadRelay } from "./head-relay.ts";
import { type IndexingContext, secretsOf } from "./indexing.ts";
import { openRepeatFilter, readPonderLog } from "./ponder-log.ts";
import { startPonder } from "./ponder-process.ts";
import { ponderSettings } from "./ponder-settings.ts";
import { lockSchema } from "./schema-lock.ts";
import { schemaName } from "./schema-name.ts";
import { trackProgress } from "./track-progress.ts";
import { waitUntilStalled } from "./wait-until-stalled.ts";
import { yieldToReaders } from "./yield-to-readers.ts";

/** One run of Ponder, from the check of the RPCs to its exit. */
type PonderRun = {
  /** `waiting` until the RPCs and the database are usable; `live`: it follows new blocks. */
  reached: "waiting" | "started" | "live";
  logError: (message: string, reason: string) => void;
};

type RunPonderOptions = IndexingContext & {
  /** Called each time Ponder begins to follow new blocks. */
  onLive: () => void;
};

const firstDelayMs = 100;
/** Longest delay before a restart: after Ponder failed, and while the chain or the database is unavailable. */
const maxDelayMs = { started: 30_000, waiting: 2_000 };
const rpcCheckEveryMs = 15_000;

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
    await sleep(delayMs, signal);
    delayMs =
      run.reached === "live" ? firstDelayMs : Math.min(delayMs * 2, maxDelayMs[run.reached]);
  }
}

/** Runs Ponder once. Returns the reason for its end. */
async function runOnce(options: RunPonderOptions, run: PonderRun): Promise<string> {
  const { chain, indexer, databaseUrl, db, logger, signal } = options;
  const { chainId } = chain;
  const id = { chainId, indexer };
  const rpcs = await checkRpcs(chain);
  for (const fault of rpcs.faults) run.logError("RPC check failed", fault);
  if (rpcs.rpcUrls.length === 0) return "none of the chain's RPCs can be used";

  const mismatch = await findMismatchedBlock(db, { ...chain, rpcUrls: rpcs.rpcUrls });
  if (mismatch !== undefined) return mismatch;

  const generation = await readGeneration(db, id);
  const sources = await options.readSources();
  const schema = schemaName(sources, generation);
  const lock = await lockSchema(databaseUrl, schema, signal, logger);
  const ending = new AbortController();
  try {
    await activateFirstSchema(db, id, schema);
    signal.throwIfAborted();
    let onPonderLive = () => {};
    const live = new Promise<void>((resolve) => {
      onPonderLive = resolve;
    });
    const onPort = (port: number) => void countPonderCalls(chainId, port, ending.signal);
    const onLine = logReader(options, schema, run, { onLive: onPonderLive, onPort });
    const port = await findFreePort();
    const wsUrl = rpcs.wsUrl && (await openHeadRelay(rpcs.wsUrl, ending.signal));
    const settings = ponderSettings({ ...options, sources }, { ...rpcs, wsUrl });
    const isBackground = await isInBackground(options);
    signal.throwIfAborted();
    const ponder = startPonder({ schema, port, settings, onLine, isBackground });
    run.reached = "started";
    logger.info({ ...id, schema, ponderPid: ponder.pid }, "Ponder started");
    const isLive = () => run.reached === "live";
    void trackProgress(db, id, isLive, ending.signal);
    if (isBackground) void yieldToReaders(db, chainId, ponder, isLive, ending.signal);
    const reason = await Promise.race([
      ponder.exited.then((exit) => `Ponder exited (${exit})`),
      lock.lost.then(() => {
        ponder.kill();
        return "database connection lost";
      }),
      waitForWrongChain(chain, rpcs, ending.signal),
      live.then(() => waitUntilStalled(db, { ...chain, indexer }, rpcs.rpcUrls, ending.signal)),
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

function logReader(
  options: RunPonderOptions,
  schema: string,
  run: PonderRun,
  { onLive: onPonderLive, onPort }: { onLive: () => void; onPort: (port: number) => void },
) {
  const { chain, indexer, db, logger, onLive } = options;
  const { chainId } = chain;
  return readPonderLog({
    chainId,
    indexer,
    logger,
    secrets: secretsOf(options),
    onPort,
    onLive: () => {
      run.reached = "live";
      onPonderLive();
      activateSchema(db, { chainId, indexer }, schema).then(onLive, (error: unknown) =>
        logger.error({ err: error, chainId, indexer, schema }, "schema activation failed"),
      );
    },
  });
}

/** Resolves when an RPC in use serves another chain. */
async function waitForWrongChain(
  chain: ChainConfig,
  used: CheckedRpcs,
  signal: AbortSignal,
): Promise<string> {
  while (!signal.aborted) {
    await sleep(rpcCheckEveryMs, signal);
    if (signal.aborted) break;
    const { wrongUrls } = await checkRpcs(chain);
    if ([...used.rpcUrls, used.wsUrl].some((url) => url !== null && wrongUrls.includes(url))) {
      return "an RPC now serves another chain";
    }
  }
  return "stopped";
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : `${error}`);
