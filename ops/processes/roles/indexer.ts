import { setMaxListeners } from "node:events";
import { sql } from "kysely";
import type { Logger } from "pino";
import { sleep } from "#jobs/runner/back-off.ts";
import type { Job } from "#jobs/runner/job.ts";
import { runEach } from "#jobs/runner/run-jobs.ts";
import type { ChainConfig } from "#ops/config/config.ts";
import { finalBlocks } from "#ops/ponder/follow-finality.ts";
import { assignIndexers, readIndexers } from "#ops/ponder/indexers.ts";
import { plainTransfers } from "#ops/ponder/plain-transfers.ts";
import { historyProof } from "#ops/ponder/prove-history.ts";
import { runPonder } from "#ops/ponder/run-ponder.ts";
import { type ChainFaults, nodeFaults } from "#ops/ponder/tell-faults.ts";
import { placeOf } from "#ops/postgres/answering-server.ts";
import { migrate } from "#ops/postgres/migrate.ts";
import { openChainReader } from "#ops/reader/chain-reader.ts";
import { serveReader } from "#ops/reader/serve-ponder.ts";
import { type Database, openDatabase } from "#projections/log/database.ts";
import { DatabaseUnavailable } from "#projections/log/database-failure.ts";
import { pendingMigrations } from "#projections/log/schema.ts";
import { coreIndexer } from "#projections/log/sources.ts";
import { type RoleContext, type RunningRole, runRoleJobs } from "./role.ts";

/** All statements here are short; a database that vanished without a word would otherwise stop indexing for as long as TCP waits. */
const statementTimeoutMs = 10_000;

/** Ponder processes, one per indexer of each chain, each in its own schema; they share Ponder's cache of chain data. */
export async function runRole(context: RoleContext): Promise<RunningRole> {
  const { config, logger, signal } = context;
  const db = openDatabase({
    url: config.database.url,
    applicationName: "indexer",
    max: 4,
    statementTimeoutMs,
    onIdleError: (error) => logger.warn({ err: error }, "database connection lost"),
  });
  const stopping = new AbortController();
  // Each job of a chain adds a listener while it waits.
  setMaxListeners(0, stopping.signal);
  signal.addEventListener("abort", () => stopping.abort());
  await migrateAt(config.database.url, logger, signal);
  const { curated, indexerProcesses: processes } = config;
  for (const chain of config.chains) await assignIndexers(db, { chain, curated, processes });

  const chains = config.chains.map((chain) => {
    let finished = Promise.resolve();
    const live = new Promise<void>((onLive) => {
      finished = runChain(context, db, { chain, onLive, signal: stopping.signal });
    });
    return { live, finished };
  });
  const finished = Promise.all(chains.map((chain) => chain.finished));
  return {
    ready: Promise.all(chains.map((chain) => chain.live)).then(() => {}),
    failed: finished.then(() => new Promise<never>(() => {})),
    async stop() {
      stopping.abort();
      await finished.catch(() => {});
      await db.destroy();
    },
  };
}

type RunChain = { chain: ChainConfig; onLive: () => void; signal: AbortSignal };

/** The chain's indexers, also those that are added while it runs. It is live when its core one follows new blocks. */
async function runChain(
  { config, logger }: RoleContext,
  db: Database,
  { chain, onLive, signal }: RunChain,
): Promise<void> {
  const { chainId } = chain;
  const { curated } = config;
  const reader = openChainReader({ ...chain, signal });
  const served = await serveReader(reader, signal);
  const faults: ChainFaults = new Map();
  const read = () => readIndexers(db, chain, curated);
  const runJobs = (jobs: Job | readonly Job[], ending: AbortSignal) =>
    runRoleJobs(jobs, { config, db, logger, signal: ending });
  const beside = runJobs(
    [
      nodeFaults({ db, reader, faults, logger }),
      finalBlocks({ db, chain, reader, faults }),
      historyProof({ db, chain, reader, readIndexers: read, logger }),
      plainTransfers({ db, chain, curated }),
    ],
    signal,
  );
  await runEach({
    name: "indexers",
    about: { chainId },
    readNames: async () => (await read()).map(({ name }) => name),
    run: (indexer, ending) =>
      runPonder({
        ...{ chain, reader, served },
        indexer,
        faults,
        db,
        databaseUrl: config.database.url,
        logger,
        signal: ending,
        runJob: runJobs,
        readSources: async () => {
          const found = (await read()).find(({ name }) => name === indexer);
          if (found === undefined)
            throw new Error(`sources of the indexer ${indexer} of chain ${chainId} were removed`);
          return found.sources;
        },
        onLive: () => {
          logger.info({ chainId, indexer }, "indexer follows new blocks");
          if (indexer === coreIndexer) onLive();
        },
      }),
    runJob: runJobs,
    signal,
  });
  await beside;
}

const pollMs = 1_000;
const logEvery = 10;

/** Migrates as the owner of the tables; another database user waits until the owner has done it. */
async function migrateOrWait(db: Database, logger: Logger, signal: AbortSignal): Promise<void> {
  for (let tries = 0; !signal.aborted; tries += 1) {
    if (await mayMigrate(db)) return await migrate(db);
    const pending = await pendingMigrations(db);
    if (pending.length === 0) return;
    if (tries % logEvery === 0) {
      logger.warn({ migrations: pending.length }, "waiting for migrations: run op migrate");
    }
    await sleep(pollMs, signal);
  }
}

/** The same of the database at an address; while that does not answer it is waited for. */
async function migrateAt(url: string, logger: Logger, signal: AbortSignal): Promise<void> {
  const db = openDatabase({ url, applicationName: "migrations", max: 2, onIdleError: () => {} });
  try {
    for (let logged = ""; !signal.aborted; ) {
      try {
        return await migrateOrWait(db, logger, signal);
      } catch (error) {
        if (!(error instanceof DatabaseUnavailable)) throw error;
        const { message: reason } = error;
        const server = placeOf(url);
        if (reason !== logged)
          logger.warn({ server, reason }, "database does not answer, retrying");
        logged = reason;
        await sleep(pollMs, signal);
      }
    }
  } finally {
    await db.destroy();
  }
}

/** Whether the tables are this user's, or there are none. */
async function mayMigrate(db: Database): Promise<boolean> {
  const { rows } = await sql<{ may: boolean }>`
    select to_regnamespace('ops') is null or has_schema_privilege('ops', 'create') as may`.execute(
    db,
  );
  return rows[0]?.may ?? false;
}
