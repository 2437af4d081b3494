import type { Logger } from "pino";
import { projectionNames } from "../../../projections/all.ts";
import { type Database, openDatabase } from "../../../projections/database.ts";
import { mainCell } from "../../../projections/log/cells/main-cell.ts";
import { openHashReader } from "../../background/chain/clients.ts";
import { openHeadReader } from "../../background/chain/fetch-head.ts";
import { listen } from "../../serve/http/server.ts";
import { type CellStatus, joinStatuses } from "../../serve/status/join-statuses.ts";
import { maxLagSeconds } from "../../serve/status/limits.ts";
import { openStatusReader } from "../../serve/status/status-reader.ts";
import type { ChainConfig } from "../config/chain-config.ts";
import { listeningUrl } from "../config/listening-url.ts";
import { openOperationRunner } from "../console/actions/run-operation.ts";
import { createConsole } from "../console/app.ts";
import type { OtherDatabase } from "../console/reads/databases.ts";
import { openProblemReader } from "../console/reads/problems.ts";
import { openProcessReader } from "../console/reads/processes.ts";
import { openRebuildMeter } from "../console/reads/rebuild-pace.ts";
import { takeSamples } from "../console/take-samples.ts";
import type { FetchChainHead } from "../inspection/fetch-chain-head.ts";
import { accountsCell, isSameDatabase } from "./configured-cells.ts";
import { type HomesWatch, watchHomes } from "./homes.ts";
import type { RoleCell, RoleContext, RunningRole, SomeRoleCells } from "./role.ts";

const rpc = { timeoutMs: 2_000, maxAgeMs: 1_000, staleBlocks: 100 };

/** Serves the operator's console. */
export async function runRole({
  config: whole,
  cells = [{ name: mainCell, config: whole }],
  logger,
  signal,
}: RoleContext): Promise<RunningRole> {
  const homes = cells.length > 1 ? await watchHomes(cells, { logger, signal }) : undefined;
  const { http, console } = whole;
  const { main, others, accountsDb } = openDatabases(cells, homes, logger);
  const { db } = main;
  const now = () => new Date();
  const fetchHead = openHeads(whole.chains);
  const openStatuses = () =>
    [main, ...others]
      .filter(({ config: { chains } }) => chains.length > 0)
      .map((one) => openStatus(one, fetchHead, logger));
  let statuses = openStatuses();
  homes?.onChange(() => {
    statuses = openStatuses();
  });
  const port = console.port ?? http.port + 1;
  const hasOwnMetrics = http.metricsPort !== null && http.metricsPort !== console.port;
  const app = createConsole({
    context: {
      db,
      others,
      accountsDb,
      fetchHead,
      logger,
      now,
      get config() {
        return main.config;
      },
      readProblems: openProblemReader({ main, others, fetchHead, now }),
      measureRebuilds: openRebuildMeter(),
      runOperation: openOperationRunner(),
      readProcesses: openProcessReader(),
    },
    readStatus: joinStatuses(() => statuses),
    metricsUrl: `${hasOwnMetrics ? `http://127.0.0.1:${http.metricsPort}` : listeningUrl(http)}/metrics`,
  });
  const close = async () => {
    await homes?.stop();
    await Promise.all(
      [...new Set([db, accountsDb, ...others.map((one) => one.db)])].map((one) => one.destroy()),
    );
  };
  const listening = await listen(app, console.host, port).catch(async (error: unknown) => {
    await close();
    throw error;
  });
  const sampling = takeSamples({ main, fetchHead, now, logger, signal });
  return {
    ready: Promise.resolve(),
    failed: new Promise<never>(() => {}),
    async stop() {
      await listening.close();
      await sampling.stop();
      await close();
    },
  };
}

/** Those of the cells, and of accounts where they have one of their own. */
function openDatabases(
  [first, ...rest]: SomeRoleCells,
  homes: HomesWatch | undefined,
  logger: Logger,
): { main: OtherDatabase; others: OtherDatabase[]; accountsDb: Database } {
  const openUrl = (url: string) =>
    openDatabase({
      url,
      applicationName: "console",
      max: 4,
      statementTimeoutMs: 20_000,
      onIdleError: (error) => logger.warn({ err: error }, "database connection lost"),
    });
  const open = ({ name, config }: RoleCell) => ({
    name,
    db: openUrl(config.database.url),
    get config() {
      const served = homes?.current().get(name)?.serves;
      const isServed = ({ chainId }: ChainConfig) => served?.includes(chainId) ?? true;
      return { ...config, chains: config.chains.filter(isServed) };
    },
  });
  const [main, others] = [open(first), rest.map(open)];
  const { url } = first.config.database.accounts;
  const known = [first, ...rest].findIndex(({ config }) =>
    isSameDatabase(config.database.url, url),
  );
  const holder = known === -1 ? undefined : [main, ...others][known];
  if (holder !== undefined) return { main, others, accountsDb: holder.db };
  const { config } = first;
  const database = { ...config.database, url, poolerUrl: null, replicas: [] };
  const accounts = {
    name: accountsCell,
    db: openUrl(url),
    config: { ...config, chains: [], database },
  };
  return { main, others: [...others, accounts], accountsDb: accounts.db };
}

function openStatus(
  { db, config }: OtherDatabase,
  fetchHead: FetchChainHead,
  logger: Logger,
): CellStatus {
  const readStatus = openStatusReader({
    db,
    chains: config.chains.map((chain) => ({
      chainId: chain.chainId,
      readHead: () => fetchHead(chain),
      readHash: openHashReader({ ...chain, timeoutMs: rpc.timeoutMs }),
    })),
    projections: projectionNames,
    now: () => new Date(),
    logger,
    lateSeconds: maxLagSeconds,
    maxAgeMs: 500,
  });
  return { chains: config.chains.map(({ chainId }) => chainId), readStatus };
}

/** The heads of all chains, each read at most once a second. */
function openHeads(chains: readonly ChainConfig[]): FetchChainHead {
  const readers = new Map(
    chains.map(({ chainId, rpcUrls }) => [chainId, openHeadReader({ chainId, rpcUrls, ...rpc })]),
  );
  return async ({ chainId }) => (await readers.get(chainId)?.()) ?? { head: null, faults: [] };
}
