import { listen } from "#api/http/server.ts";
import { maxLagSeconds } from "#api/status/service-status.ts";
import { openStatusReader } from "#api/status/status-reader.ts";
import { openHashReader } from "#jobs/chain/client.ts";
import { openHeadReader } from "#jobs/chain/fetch-head.ts";
import { type ChainConfig, listeningUrl } from "#ops/config/config.ts";
import { createConsole } from "#ops/console/app.ts";
import {
  openMetricsReader,
  openProblemReader,
  openProcessReader,
  openRebuildMeter,
} from "#ops/console/figures.ts";
import { openOperationRunner } from "#ops/console/operations.ts";
import { sampling } from "#ops/console/samples.ts";
import type { FetchChainHead } from "#ops/reports/read-status.ts";
import { projectionNames } from "#projections/all.ts";
import { openDatabase } from "#projections/log/database.ts";
import { type RoleContext, type RunningRole, runRoleJobs } from "./role.ts";

const rpc = { timeoutMs: 2_000, maxAgeMs: 1_000, staleBlocks: 100 };

/** Serves the operator's console. */
export async function runRole({ config, logger, signal }: RoleContext): Promise<RunningRole> {
  const { http, console, database } = config;
  const db = openDatabase({
    url: database.url,
    applicationName: "console",
    max: 4,
    statementTimeoutMs: 20_000,
    onIdleError: (error) => logger.warn({ err: error }, "database connection lost"),
  });
  const now = () => new Date();
  const fetchHead = openHeads(config.chains);
  const shown = { db, config, fetchHead, now };
  const port = console.port ?? http.port + 1;
  const hasOwnMetrics = http.metricsPort !== null && http.metricsPort !== console.port;
  const app = createConsole({
    context: {
      ...shown,
      logger,
      readProblems: openProblemReader(shown),
      measureRebuilds: openRebuildMeter(),
      runOperation: openOperationRunner(),
      readProcesses: openProcessReader(),
      fetchMetrics: openMetricsReader(
        `${hasOwnMetrics ? `http://127.0.0.1:${http.metricsPort}` : listeningUrl(http)}/metrics`,
      ),
    },
    readStatus: openStatusReader({
      db,
      chains: config.chains.map((chain) => ({
        chainId: chain.chainId,
        readHead: () => fetchHead(chain),
        readHash: openHashReader({ ...chain, timeoutMs: rpc.timeoutMs }),
      })),
      projections: projectionNames,
      now,
      logger,
      lateSeconds: maxLagSeconds,
      maxAgeMs: 500,
    }),
  });
  const listening = await listen(app, console.host, port).catch(async (error: unknown) => {
    await db.destroy();
    throw error;
  });
  const stopping = new AbortController();
  const ending = AbortSignal.any([signal, stopping.signal]);
  const sampled = runRoleJobs(sampling(shown), { config, db, logger, signal: ending });
  return {
    ready: Promise.resolve(),
    failed: new Promise<never>(() => {}),
    async stop() {
      await listening.close();
      stopping.abort();
      await sampled;
      await db.destroy();
    },
  };
}

/** The heads of all chains, each read at most once a second. */
function openHeads(chains: readonly ChainConfig[]): FetchChainHead {
  const readers = new Map(
    chains.map(({ chainId, rpcUrls }) => [chainId, openHeadReader({ chainId, rpcUrls, ...rpc })]),
  );
  return async ({ chainId }) => (await readers.get(chainId)?.()) ?? { head: null, faults: [] };
}
