import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import type { ChainConfig } from "../config/config.ts";
import {
  activateFirstSchema,
  activateSchema,
  readGeneration,
  untilGenerationEnds,
} from "./active-schema.ts";
import { type ChosenRpcs, chooseRpcs } from "./choose-rpcs.ts";
import { findForeignBlock } from "./find-foreign-block.ts";
import { type Indexing, secretsOf } from "./indexing.ts";
import { readPonderLog, rememberWords } from "./ponder-log.ts";
import { startPonder } from "./ponder-process.ts";
import { ponderSettings } from "./ponder-settings.ts";
import { leaseSchema } from "./schema-lease.ts";
import { schemaName } from "./schema-name.ts";
import { untilFrozen } from "./until-frozen.ts";

type Life = {
  /** Kept from starting, started, or following new blocks. */
  reached: "kept" | "started" | "live";
  tell: (words: string) => void;
};

type Options = Indexing & {
  /** Told each time new blocks are followed. */
  onLive: () => void;
};

const firstPauseMs = 100;
/** The longest pause where Ponder itself failed, and where the chain or the database was not there for it. */
const longestPauseMs = { started: 30_000, kept: 2_000 };
const rpcCheckEveryMs = 15_000;

/** Keeps a Ponder running for one chain until the signal. What befalls it touches no other chain. */
export async function keepPonder(options: Options): Promise<void> {
  const { chain, logger, signal } = options;
  const isRepeated = rememberWords();
  let pauseMs = firstPauseMs;
  while (!signal.aborted) {
    const life: Life = {
      reached: "kept",
      tell: (words) => isRepeated(words) || logger.error(words),
    };
    const ending = await runOnce(options, life).catch(wordsOf);
    if (signal.aborted) return;
    life.tell(`chain ${chain.chainId} is not indexed: ${ending}`);
    await delay(pauseMs, undefined, { signal }).catch(() => {});
    pauseMs =
      life.reached === "live" ? firstPauseMs : Math.min(pauseMs * 2, longestPauseMs[life.reached]);
  }
}

/** One life of Ponder, from the check of the RPCs to its end; returns what ended it. */
async function runOnce(options: Options, life: Life): Promise<string> {
  const { chain, sources, databaseUrl, db, logger, signal } = options;
  const rpcs = await chooseRpcs(chain);
  for (const fault of rpcs.faults) life.tell(`chain ${chain.chainId}: ${fault}`);
  if (rpcs.rpcUrls.length === 0) return "none of its RPCs can be used";

  const foreign = await findForeignBlock(db, { ...chain, rpcUrls: rpcs.rpcUrls });
  if (foreign !== undefined) return foreign;

  const generation = await readGeneration(db, chain.chainId);
  const schema = schemaName(sources, generation);
  const lease = await leaseSchema(databaseUrl, schema, signal, logger);
  const over = new AbortController();
  try {
    await activateFirstSchema(db, chain.chainId, schema);
    signal.throwIfAborted();
    let watch = () => {};
    const live = new Promise<void>((resolve) => {
      watch = resolve;
    });
    const ponder = startPonder(
      schema,
      ponderSettings(options, rpcs),
      logReader(options, schema, life, watch),
    );
    life.reached = "started";
    logger.info(`chain ${chain.chainId}: Ponder (process ${ponder.pid}) indexes into ${schema}`);
    const ending = await Promise.race([
      ponder.exited.then((words) => `Ponder ended (${words})`),
      lease.lost.then(() => {
        ponder.kill();
        return "the database went away";
      }),
      untilWrongChain(chain, rpcs, over.signal),
      live.then(() => untilFrozen(db, chain, rpcs.rpcUrls, over.signal)),
      untilGenerationEnds(db, chain.chainId, generation, over.signal),
      once(signal, "abort", { signal: over.signal }).then(() => "told to stop"),
    ]);
    await ponder.stop();
    return ending;
  } finally {
    over.abort();
    await lease.release();
  }
}

function logReader(options: Options, schema: string, life: Life, watch: () => void) {
  const { chain, db, logger, onLive } = options;
  return readPonderLog({
    chainId: chain.chainId,
    logger,
    secrets: secretsOf(options),
    onLive: () => {
      life.reached = "live";
      watch();
      activateSchema(db, chain.chainId, schema).then(onLive, (error: unknown) =>
        logger.error(`${schema} is live, but could not be made active: ${wordsOf(error)}`),
      );
    },
  });
}

/** Settles when an RPC in use has turned out to serve another chain. */
async function untilWrongChain(
  chain: ChainConfig,
  used: ChosenRpcs,
  signal: AbortSignal,
): Promise<string> {
  while (!signal.aborted) {
    await delay(rpcCheckEveryMs, undefined, { signal }).catch(() => {});
    if (signal.aborted) break;
    const { wrongUrls } = await chooseRpcs(chain);
    if ([...used.rpcUrls, used.wsUrl].some((url) => url !== null && wrongUrls.includes(url))) {
      return "an RPC serves another chain now";
    }
  }
  return "over";
}

const wordsOf = (error: unknown): string => (error instanceof Error ? error.message : `${error}`);
