import { once } from "node:events";
import { sql } from "kysely";
import type { Hex } from "viem";
import { sleep } from "#jobs/runner/back-off.ts";
import type { Job } from "#jobs/runner/job.ts";
import type { Database } from "#projections/log/database.ts";
import {
  readIndexedBlocks,
  readIndexerProgress,
  storeCaughtUp,
  storeRate,
} from "#projections/log/progress.ts";
import { coreIndexer, type IndexerId } from "#projections/log/sources.ts";
import { findFreePort } from "../free-port.ts";
import type { RpcBlock } from "../reader/block-proof.ts";
import type { ChainReader } from "../reader/chain-reader.ts";
import type { ServedReader } from "../reader/serve-ponder.ts";
import { openRepeatFilter, readPonderLog } from "./ponder-log.ts";
import { type IndexingContext, ponderSettings, secretsOf, startPonder } from "./ponder-process.ts";
import {
  activateSchema,
  lockSchema,
  readGeneration,
  schemaName,
  waitForNewGeneration,
} from "./ponder-schema.ts";
import type { ChainFaults } from "./tell-faults.ts";

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
  served: ServedReader;
  /** Where it says why it stands still. */
  faults: ChainFaults;
  /** Runs what goes on beside Ponder, until the signal. */
  runJob: (job: Job, signal: AbortSignal) => Promise<void>;
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
  const { chain, indexer, databaseUrl, db, logger, signal, reader, served } = options;
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
    await activateSchema(db, id, schema, true);
    signal.throwIfAborted();
    const onLine = logReader(options, schema, run);
    const port = await findFreePort();
    const settings = ponderSettings({ ...options, sources }, served);
    const isBackground = await isInBackground(options);
    signal.throwIfAborted();
    const ponder = startPonder({ schema, port, settings, onLine, isBackground });
    run.reached = "started";
    logger.info({ ...id, schema, ponderPid: ponder.pid }, "Ponder started");
    const isLive = () => run.reached === "live";
    void options.runJob(indexingProgress(db, id, isLive), ending.signal);
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

/**
 * Compares the first and the last block in Ponder's cache with the chain. Ponder looks up cached data by chain id and
 * height only, so that after a reset of a chain it would keep old events and miss new ones. Returns a description of the
 * block that differs; undefined when none does.
 */
async function findMismatchedBlock(
  db: Database,
  { chainId, heads, blocks }: Pick<ChainReader, "chainId" | "heads" | "blocks">,
): Promise<string | undefined> {
  const head = Number(heads.head()?.number ?? 0);
  const stored = await readFirstAndLastBlock(db, chainId);
  const numbers = stored.map(({ number }) => Number(number)).filter((number) => number <= head);
  const canonical = await blocks.byNumbers(numbers);
  const hashes = new Map(canonical.map(({ number, hash }) => [BigInt(number), hash]));
  const mismatch = stored.find(({ number, hash }) => (hashes.get(number) ?? hash) !== hash);
  if (mismatch === undefined) return undefined;
  const { number, hash } = mismatch;
  return (
    `block ${number} is ${hash} in Ponder's cache and ${hashes.get(number)} on the chain. Either the database was ` +
    "filled from another chain of that id, or the chain was reorganized below the block that Ponder took for final: " +
    `if this is the right chain, run \`npm run op -- recover --chain ${chainId}\``
  );
}

/** The first and the last of the chain's blocks in Ponder's cache. */
async function readFirstAndLastBlock(
  db: Database,
  chainId: number,
): Promise<{ number: bigint; hash: Hex }[]> {
  const { rows } = await sql<{ exists: boolean }>`
    select to_regclass('ponder_sync.blocks') is not null as exists`.execute(db);
  if (!rows[0]?.exists) return [];
  const outer = await sql<{ number: bigint; hash: Hex }>`
    (select number, hash from ponder_sync.blocks where chain_id = ${chainId} order by number limit 1)
    union
    (select number, hash from ponder_sync.blocks where chain_id = ${chainId} order by number desc limit 1)
  `.execute(db);
  return outer.rows;
}

type Watched = {
  reader: ChainReader;
  indexer: string;
  schema: string;
  /** Whether Ponder follows new blocks. */
  isLive: () => boolean;
};

const stalledPollMs = 2_000;
/** Ponder retries a block that a reorg removed for a minute; a restart takes seconds. */
const stalledAfterMs = { live: 15_000, backfill: 60_000 };

/**
 * Resolves with a reason when Ponder has not advanced although the chain's head is ahead of it: for 15 s while it follows
 * new blocks; before, for a minute without an event or a range of history stored, nor anything asked of the reader. Never
 * resolves otherwise: a chain without new blocks is not a stall, nor is one whose nodes do not answer.
 */
async function waitUntilStalled(
  db: Database,
  watched: Watched,
  signal: AbortSignal,
): Promise<string> {
  let last = { progress: "", at: performance.now() };
  while (!signal.aborted) {
    await sleep(stalledPollMs, signal);
    const wasLive = watched.isLive();
    const progress = await readProgress(db, watched, wasLive).catch(() => null);
    // Null: there is nothing that it should do, or the database does not say.
    if (progress === null || progress !== last.progress) {
      last = { progress: progress ?? "", at: performance.now() };
    } else if (performance.now() - last.at > stalledAfterMs[wasLive ? "live" : "backfill"]) {
      const head = Number(watched.reader.heads.head()?.number);
      return `Ponder stalled, its progress is ${progress}, and the chain's head ${head}`;
    }
  }
  return new Promise(() => {});
}

/** A text that changes with what Ponder does; null when it need not do anything. */
async function readProgress(
  db: Database,
  watched: Watched,
  isLive: boolean,
): Promise<string | null> {
  const { reader, indexer } = watched;
  const head = reader.heads.head();
  if (head === null || reader.waiting() !== null) return null;
  if (!isLive) return readBackfill(db, watched);
  const { indexed } = (await readIndexedBlocks(db, reader.chainId, indexer)) ?? { indexed: null };
  return indexed !== null && indexed.number >= Number(head.number)
    ? null
    : `block ${indexed?.number ?? "none"}`;
}

/** Changes with each range of history that Ponder has read, each of its commits, and each thing that it asks. */
async function readBackfill(db: Database, { reader, schema }: Watched): Promise<string> {
  const { rows } = await sql<{ intervals: string | null; checkpoint: string | null }>`
    select
      (select md5(string_agg(blocks::text, ' ' order by fragment_id))
       from ponder_sync.intervals where chain_id = ${reader.chainId}) as intervals,
      (select max(latest_checkpoint) from ${sql.table(`${schema}._ponder_checkpoint`)}) as checkpoint
  `.execute(db);
  return `history ${rows[0]?.intervals}, event ${rows[0]?.checkpoint}, request ${reader.requests()}`;
}

const progressPollMs = 2_000;
/** Share of the newest measurement in the rate. */
const weight = 0.2;

/**
 * Measures how fast an indexer's first pass gets on, for the remaining time, until it follows new blocks and the log
 * holds what it has indexed: then it has caught up.
 */
function indexingProgress(db: Database, id: IndexerId, isLive: () => boolean): Job {
  const measure = openRate();
  return {
    name: "indexing progress",
    about: id,
    every: progressPollMs,
    retry: { firstMs: progressPollMs, mostMs: progressPollMs },
    async run() {
      const progress = await readIndexerProgress(db, id);
      if (progress === null || progress.recorded < 0) return undefined;
      if (progress.isCaughtUp) return "ended";
      const rate = measure(progress.recorded);
      if (rate !== undefined) await storeRate(db, id, rate);
      if (isLive() && progress.isRecorded) await storeCaughtUp(db, id);
      return undefined;
    },
  };
}

/** Blocks per second between one height and the next, smoothed. */
function openRate(): (height: number) => number | undefined {
  let last: { height: number; at: number } | undefined;
  let rate: number | undefined;
  return (height) => {
    const at = performance.now();
    if (last !== undefined) {
      const measured = Math.max(0, height - last.height) / ((at - last.at) / 1_000);
      rate = rate === undefined ? measured : rate + weight * (measured - rate);
    }
    last = { height, at };
    return rate;
  };
}
