import type { Logger } from "pino";
import { type ChainClient, fetchCanonicalHashes, openChainClient } from "#jobs/chain/client.ts";
import { upkeep } from "#jobs/database-upkeep.ts";
import { fetchPoolCoins } from "#jobs/recording/fetch-pool-coins.ts";
import { openTransferReader } from "#jobs/recording/fetch-transfers.ts";
import { projecting as projectingJob } from "#jobs/recording/project.ts";
import { recording as recordingJobs } from "#jobs/recording/record.ts";
import { type JobBook, openJobBook, runEach, runJobs, runTogether } from "#jobs/runner/run-jobs.ts";
import { createSignal, type Listener, openListener, type Signal } from "#jobs/runner/signals.ts";
import type { ChainConfig } from "#ops/config/config.ts";
import { allProjections } from "#projections/all.ts";
import { bindViews, bindViewsIfStale } from "#projections/analytics/bind-views.ts";
import { type Target, targetOf } from "#projections/engine/checkpoint.ts";
import { type BuildProgress, prepareProjections } from "#projections/engine/rebuild.ts";
import { eventsWithTransfers } from "#projections/exchanges/exchanges.ts";
import type { Database } from "#projections/log/database.ts";
import { hasCaughtUp, hasProjectionsWithin } from "#projections/log/progress.ts";
import { coreIndexer, readIndexerNames } from "#projections/log/sources.ts";
import { projectingRole, releaseId } from "#projections/log/versions.ts";
import { type LeaderContext, runLeaderRole } from "./leader.ts";
import { type RoleContext, type RunningRole, runRoleJobs } from "./role.ts";

/**
 * Events of an added source's history that one transaction takes, and facts that may wait for the projections meanwhile:
 * what is new on the chain, and orders, wait behind them.
 */
const addedBacklogEvents = 1_000;
const maxUnappliedFacts = 2_000;

/** Connections of a preparation: two projections, two indexes of each, and their locks. */
const projectingConnections = 8;

/**
 * Ponder's tables → the log → the projections. One process records, whatever its release; one of each release projects
 * into the tables of its versions. Others are standbys.
 */
export async function runRole(context: RoleContext): Promise<RunningRole> {
  const logSignal = createSignal();
  const recording = runLeaderRole(context, {
    name: "projector",
    connections: 1 + 3 * context.config.chains.length,
    work: (leading) => record(leading, logSignal),
  });
  const projecting = runLeaderRole(context, {
    name: "projector",
    lease: { role: projectingRole(releaseId), table: "ops.projecting_lease" },
    connections: projectingConnections,
    work: (leading) => projectAll(leading, logSignal),
  });
  const failed = Promise.race([recording.failed, projecting.failed]);
  failed.catch(() => undefined);
  return {
    ready: Promise.race([projecting.ready, failed]),
    failed,
    async stop() {
      await Promise.all([recording.stop(), projecting.stop()]);
    },
  };
}

async function record(leading: LeaderContext, logSignal: Signal): Promise<void> {
  const { config, logger } = leading.context;
  const chainSignals = new Map(config.chains.map(({ chainId }) => [chainId, new Set<Signal>()]));
  const listener = openListener({
    url: config.database.url,
    channels: [],
    logger,
    onNotify: (channel) => {
      for (const [chainId, ofChain] of chainSignals)
        if (channel.startsWith(`ponder_${chainId}_`)) for (const one of ofChain) one.notify();
    },
  });
  const book = openJobBook();
  try {
    await runTogether(leading.signal, (signal) => [
      ...runRecorders({ ...leading, signal, chainSignals, logSignal, listener, book }),
      runRoleJobs(upkeep(leading.db), { config, db: leading.db, logger, signal, book }),
    ]);
  } finally {
    await listener.stop();
  }
}

async function projectAll(
  { context, db, leadership, signal, onReady }: LeaderContext,
  logSignal: Signal,
): Promise<void> {
  const { config, logger } = context;
  const listener = openListener({
    url: config.database.url,
    channels: ["log"],
    logger,
    onNotify: () => logSignal.notify(),
  });
  try {
    const targets = await prepare(context, db);
    const job = projectingJob({
      db,
      targets,
      changeSignal: logSignal,
      logger,
      holds: leadership.isHeld,
      onTick: ({ outcome }) => outcome === "idle" && onReady(),
    });
    await runRoleJobs([job], { config, db, logger, signal });
  } finally {
    await listener.stop();
  }
}

async function prepare({ config, logger }: RoleContext, db: Database): Promise<Target[]> {
  const projections = allProjections({ feeRecipient: config.fees.recipient });
  const log = openDerivationLog(logger);
  await prepareProjections(db, projections, log.onProgress, bindViews).finally(log.end);
  await db.transaction().execute(bindViewsIfStale);
  return projections.map(targetOf);
}

type RecorderContext = Omit<LeaderContext, "onReady"> & {
  /** Of the recorders of each chain. */
  chainSignals: Map<number, Set<Signal>>;
  logSignal: Signal;
  listener: Listener;
  book: JobBook;
};

/** A recorder for each indexer of each chain: a slow node of one chain does not delay another. */
function runRecorders(recorders: RecorderContext): Promise<void>[] {
  return recorders.context.config.chains.map((chain) => runChainRecorders(recorders, chain));
}

/** Follows the chain's indexers: those that are added are recorded from then on. */
async function runChainRecorders(recorders: RecorderContext, chain: ChainConfig): Promise<void> {
  const { db, signal } = recorders;
  const { config, logger } = recorders.context;
  const { chainId, rpcUrls } = chain;
  const client = openChainClient({ chainId, rpcUrls });
  await runEach({
    name: "recorders",
    about: { chainId },
    readNames: async () => [...new Set([coreIndexer, ...(await readIndexerNames(db, chainId))])],
    run: (indexer, ending) =>
      runIndexerRecorder({ ...recorders, signal: ending }, { chain, client, indexer }),
    runJob: (job, ending) => runRoleJobs(job, { config, db, logger, signal: ending }),
    signal,
  });
}

type RecordedIndexer = { chain: ChainConfig; client: ChainClient; indexer: string };

function runIndexerRecorder(
  { context, db, signal, leadership, chainSignals, logSignal, listener, book }: RecorderContext,
  { chain: { chainId, finalityBlocks }, client, indexer }: RecordedIndexer,
): Promise<void> {
  const isCore = indexer === coreIndexer;
  const changeSignal = createSignal();
  chainSignals.get(chainId)?.add(changeSignal);
  const jobs = recordingJobs({
    db,
    recording: {
      chainId,
      indexer,
      canonicalHashes: (numbers) => fetchCanonicalHashes(client, [...numbers]),
      transfers: openTransferReader(client, eventsWithTransfers()),
      poolCoins: (pools) => fetchPoolCoins(client, pools),
      fence: leadership.fence,
      ...(isCore ? {} : { backlogEvents: addedBacklogEvents }),
      onSchema: (schema) => listener.listen(`${schema}_live_query`),
    },
    finalityBlocks: isCore ? finalityBlocks : null,
    ...(isCore
      ? {}
      : {
          background: {
            mayRecord: () => hasProjectionsWithin(db, maxUnappliedFacts),
            isServed: () => hasCaughtUp(db, { chainId, indexer: coreIndexer }),
          },
        }),
    changeSignal,
    logger: context.logger,
    holds: leadership.isHeld,
    onAppended: () => logSignal.notify(),
  });
  return runJobs(jobs, { logger: context.logger, signal, book }).finally(() =>
    chainSignals.get(chainId)?.delete(changeSignal),
  );
}

const logEveryMs = 10_000;

type DerivationLog = { onProgress(progress: BuildProgress): void; end(): void };

/** Logs the derivation of projections at the start: what is being derived every ten seconds, and the total at its end. */
function openDerivationLog(logger: Logger): DerivationLog {
  const startedAt = performance.now();
  const projections = new Set<string>();
  let latest: BuildProgress | undefined;
  const timer = setInterval(() => {
    if (latest === undefined) return;
    const { projection, position, head, step } = latest;
    const fields = { projection, step, position: Number(position), logHead: Number(head) };
    logger.info(fields, "deriving projection");
  }, logEveryMs);
  return {
    onProgress(progress) {
      latest = progress;
      projections.add(progress.projection);
    },
    end() {
      clearInterval(timer);
      if (latest === undefined) return;
      const durationMs = Math.round(performance.now() - startedAt);
      const fields = { projections: projections.size, logHead: Number(latest.head), durationMs };
      logger.info(fields, "projections derived");
    },
  };
}
