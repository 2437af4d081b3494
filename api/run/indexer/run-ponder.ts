import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import type { ChainConfig } from "../config/config.ts";
import {
  activateFirstSchema,
  activateSchema,
  readGeneration,
  waitForNewGeneration,
} from "./active-schema.ts";
import { type CheckedRpcs, checkRpcs } from "./check-rpcs.ts";
import { findMismatchedBlock } from "./find-mismatched-block.ts";
import { type IndexingContext, secretsOf } from "./indexing.ts";
import { readPonderLog, rememberWords } from "./ponder-log.ts";
import { startPonder } from "./ponder-process.ts";
import { ponderSettings } from "./ponder-settings.ts";
import { lockSchema } from "./schema-lock.ts";
import { schemaName } from "./schema-name.ts";
import { waitUntilStalled } from "./wait-until-stalled.ts";

type PonderRun = {
  /** Kept from starting, started, or following new blocks. */
  reached: "kept" | "started" | "live";
  tell: (words: string) => void;
};

type RunPonderOptions = IndexingContext & {
  /** Told each time new blocks are followed. */
  onLive: () => void;
};

const firstDelayMs = 100;
/** The longest pause where Ponder itself failed, and where the chain or the database was not there for it. */
const maxDelayMs = { started: 30_000, kept: 2_000 };
const rpcCheckEveryMs = 15_000;

/** Keeps a Ponder running for one chain until the signal. What befalls it touches no other chain. */
export async function runPonder(options: RunPonderOptions): Promise<void> {
  const { chain, logger, signal } = options;
  const isRepeated = rememberWords();
  let delayMs = firstDelayMs;
  while (!signal.aborted) {
    const life: PonderRun = {
      reached: "kept",
      tell: (words) => isRepeated(words) || logger.error(words),
    };
    const ending = await runOnce(options, life).catch(messageOf);
    if (signal.aborted) return;
    life.tell(`chain ${chain.chainId} is not indexed: ${ending}`);
    await delay(delayMs, undefined, { signal }).catch(() => {});
    delayMs =
      life.reached === "live" ? firstDelayMs : Math.min(delayMs * 2, maxDelayMs[life.reached]);
  }
}

/** One life of Ponder, from the check of the RPCs to its end; returns what ended it. */
async function runOnce(options: RunPonderOptions, life: PonderRun): Promise<string> {
  const { chain, sources, databaseUrl, db, logger, signal } = options;
  const rpcs = await checkRpcs(chain);
  for (const fault of rpcs.faults) life.tell(`chain ${chain.chainId}: ${fault}`);
  if (rpcs.rpcUrls.length === 0) return "none of its RPCs can be used";

  const mismatch = await findMismatchedBlock(db, { ...chain, rpcUrls: rpcs.rpcUrls });
  if (mismatch !== undefined) return mismatch;

  const generation = await readGeneration(db, chain.chainId);
  const schema = schemaName(sources, generation);
  const lock = await lockSchema(databaseUrl, schema, signal, logger);
  const stopWatching = new AbortController();
  try {
    await activateFirstSchema(db, chain.chainId, schema);
    signal.throwIfAborted();
    let onPonderLive = () => {};
    const live = new Promise<void>((resolve) => {
      onPonderLive = resolve;
    });
    const ponder = startPonder(
      schema,
      ponderSettings(options, rpcs),
      logReader(options, schema, life, onPonderLive),
    );
    life.reached = "started";
    logger.info(`chain ${chain.chainId}: Ponder (process ${ponder.pid}) indexes into ${schema}`);
    const ending = await Promise.race([
      ponder.exited.then((words) => `Ponder ended (${words})`),
      lock.lost.then(() => {
        ponder.kill();
        return "the database went away";
      }),
      waitForWrongChain(chain, rpcs, stopWatching.signal),
      live.then(() => waitUntilStalled(db, chain, rpcs.rpcUrls, stopWatching.signal)),
      waitForNewGeneration(db, chain.chainId, generation, stopWatching.signal),
      once(signal, "abort", { signal: stopWatching.signal }).then(() => "told to stop"),
    ]);
    await ponder.stop();
    return ending;
  } finally {
    stopWatching.abort();
    await lock.release();
  }
}

function logReader(options: RunPonderOptions, schema: string, life: PonderRun, watch: () => void) {
  const { chain, db, logger, onLive } = options;
  return readPonderLog({
    chainId: chain.chainId,
    logger,
    secrets: secretsOf(options),
    onLive: () => {
      life.reached = "live";
      watch();
      activateSchema(db, chain.chainId, schema).then(onLive, (error: unknown) =>
        logger.error(`${schema} is live, but could not be made active: ${messageOf(error)}`),
      );
    },
  });
}

/** Settles when an RPC in use has turned out to serve another chain. */
async function waitForWrongChain(
  chain: ChainConfig,
  used: CheckedRpcs,
  signal: AbortSignal,
): Promise<string> {
  while (!signal.aborted) {
    await delay(rpcCheckEveryMs, undefined, { signal }).catch(() => {});
    if (signal.aborted) break;
    const { wrongUrls } = await checkRpcs(chain);
    if ([...used.rpcUrls, used.wsUrl].some((url) => url !== null && wrongUrls.includes(url))) {
      return "an RPC serves another chain now";
    }
  }
  return "over";
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : `${error}`);
