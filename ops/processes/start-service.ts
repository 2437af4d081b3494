import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { sql } from "kysely";
import type { Logger } from "pino";
import { type Database, openDatabase } from "#projections/log/database.ts";
import { pendingMigrations } from "#projections/log/schema.ts";
import { type Config, isLoopback, listeningUrl } from "../config/config.ts";
import { ConfigurationError } from "../config/read-config.ts";
import { findFreePort } from "../free-port.ts";
import { assertLogin, placeOf, throwIfRefused } from "../postgres/answering-server.ts";
import {
  addressesOf,
  areSeparate,
  configuredRoles,
  type DatabaseAddresses,
  readDatabaseRoles,
} from "../postgres/database-roles.ts";
import { PortInUseError, startPostgres, writeCheckpoint } from "../postgres/embedded.ts";
import { createEmbeddedRoles } from "../postgres/embedded-roles.ts";
import { DirectoryInUseError } from "../postgres/live-processes.ts";
import { migrate } from "../postgres/migrate.ts";
import { applyRights } from "../postgres/rights.ts";
import { checkDirect, checkPooled } from "../reports/find-server-problems.ts";
import { keepRunning } from "./child.ts";
import { writeInstallation, writeStarting } from "./installation.ts";
import { type LocalChains, localChainsEnvironment, startLocalChains } from "./local-chains.ts";
import type { RoleName } from "./run-role.ts";
import { openProgressReader, showProgressUntil } from "./show-progress.ts";
import { startRoles } from "./start-roles.ts";
import { type SupervisorContext, usesDataDirectory } from "./supervisor-context.ts";

/** Starts database and local chains side by side, then the roles, and waits until all of them are current. */
export async function startService(context: SupervisorContext): Promise<LocalChains | undefined> {
  const { config, environment, logger, roles } = context;
  const startChains = startOnce(context);
  const addresses = await openAddresses(context, startChains);
  const db = openDatabase({
    url: addresses.DATABASE_URL,
    applicationName: "supervisor",
    max: 2,
    onIdleError: (error) => logger.debug({ err: error }, "database connection lost"),
  });
  try {
    await prepareDatabase(db, addresses, context);
    const local = await startChains();
    const variables: Record<string, string> = {
      DATA_DIR: config.dataDir,
      CURATED_FILE: config.curated.file,
      ...addresses,
      ...(local === undefined ? {} : localChainsEnvironment(config, environment, local)),
    };
    if (usesDataDirectory(config))
      process.once("exit", writeInstallation(config.dataDir, variables));
    const haveReportedReady = await startRoles(context, {
      ...environment,
      ...variables,
      ...operatorSettingsOf(config),
      LOG_FORMAT: "json",
      PONDER_TELEMETRY_DISABLED: "1",
    });
    const isReady = roles.includes("api")
      ? () => answersReady(config.http)
      : async () => haveReportedReady();
    const nodes = config.chains.map(({ chainId, rpcUrls }) => ({
      chainId,
      rpcUrls: local === undefined ? rpcUrls : [local.chains[chainId].rpcUrl],
    }));
    await showProgressUntil(isReady, openProgressReader(db, nodes), context);
    return local;
  } finally {
    await db.destroy();
  }
}

/** Starts the local chains, if configured, at the first of its calls. */
function startOnce(context: SupervisorContext): () => Promise<LocalChains | undefined> {
  let starting: Promise<LocalChains | undefined> | undefined;
  return () => {
    if (starting === undefined) {
      starting = context.config.localChains
        ? startLocalChains(context)
        : Promise.resolve(undefined);
      // It may fail before anybody waits for it.
      starting.catch(() => {});
    }
    return starting;
  };
}

async function answersReady(http: Config["http"]): Promise<boolean> {
  try {
    const response = await fetch(`${listeningUrl(http)}/readyz`, {
      signal: AbortSignal.timeout(3_000),
    });
    await response.arrayBuffer();
    return response.status === 200;
  } catch {
    // Not listening yet.
    return false;
  }
}

/**
 * The addresses that are configured, or those of the embedded database, which is started and has a user for each process;
 * `onLocked` as for `startDatabase`.
 */
async function openAddresses(
  context: SupervisorContext,
  onLocked: () => void,
): Promise<DatabaseAddresses> {
  const { database, dataDir } = context.config;
  if (database.url !== null) return addressesOf({ ...database, url: database.url });
  const adminUrl = await startDatabase(context, onLocked);
  const { owner, ...processUrls } = await createEmbeddedRoles(adminUrl, dataDir);
  return addressesOf({ url: owner, processUrls, adminUrl });
}

/** Waits until the database answers, checks the addresses, migrates it, and gives each role its rights. A migration that fails is not retried. */
async function prepareDatabase(
  db: Database,
  addresses: DatabaseAddresses,
  { config, logger, signal }: Pick<SupervisorContext, "config" | "logger" | "signal">,
): Promise<void> {
  await untilAnswers(db, { url: addresses.DATABASE_URL, logger, signal });
  const users = Object.entries(addresses).filter(([name]) => name !== "DATABASE_URL");
  for (const [name, url] of users) await assertLogin(name, url);
  await checkAddresses(addresses, config.database.poolerUrl, logger);
  const startedAt = performance.now();
  const pending = await pendingMigrations(db);
  await migrateUntil(signal, db, addresses.DATABASE_URL);
  const durationMs = Math.round(performance.now() - startedAt);
  logger.info({ migrations: pending.length, durationMs }, "database migrated");
  await grantRights(db, addresses, logger);
}

type AwaitedServer = Pick<SupervisorContext, "logger" | "signal"> & { url: string };

/** Waits for as long as nothing answers, which is logged once for each reason. Throws where the server refuses the address. */
async function untilAnswers(db: Database, { url, logger, signal }: AwaitedServer): Promise<void> {
  for (let logged = ""; ; ) {
    signal.throwIfAborted();
    const error = await sql`select 1`.execute(db).then(
      () => undefined,
      (reason: Error) => reason,
    );
    if (error === undefined) return;
    throwIfRefused(error, "DATABASE_URL", url);
    const { message: reason } = error;
    if (reason !== logged)
      logger.warn(
        { setting: "DATABASE_URL", server: placeOf(url), reason },
        "database does not answer, retrying",
      );
    logged = reason;
    await delay(1_000, undefined, { signal });
  }
}

/** Ends the statement of a migration when the service is to stop: its transaction is rolled back. */
async function migrateUntil(signal: AbortSignal, db: Database, url: string): Promise<void> {
  const applicationName = `migrations ${randomUUID()}`;
  const migrating = openDatabase({ url, applicationName, max: 2, onIdleError: () => {} });
  const end = () =>
    void sql`
      select pg_terminate_backend(pid) from pg_stat_activity
      where application_name = ${applicationName}`
      .execute(db)
      // It is not there any more, and what it worked on has ended with it.
      .catch(() => {});
  signal.addEventListener("abort", end, { once: true });
  try {
    await migrate(migrating);
  } finally {
    signal.removeEventListener("abort", end);
    await migrating.destroy();
  }
  signal.throwIfAborted();
}

async function grantRights(
  db: Database,
  addresses: DatabaseAddresses,
  logger: SupervisorContext["logger"],
): Promise<void> {
  const roles = configuredRoles(addresses);
  if (!areSeparate(roles) && (await readDatabaseRoles(db)) === null) return;
  const admin = openDatabase({
    url: addresses.DATABASE_URL_ADMIN ?? addresses.DATABASE_URL,
    applicationName: "supervisor",
    max: 1,
    onIdleError: (error) => logger.debug({ err: error }, "database connection lost"),
  });
  try {
    const remaining = await applyRights(admin, roles);
    for (const { role, finding } of remaining.slice(0, 10)) {
      logger.warn({ role, finding }, "database rights differ: run op roles grant");
    }
  } finally {
    await admin.destroy();
  }
}

/**
 * Runs the embedded PostgreSQL; it keeps its port when it is restarted. Returns its URL. `onLocked` is called once no
 * other process may use `DATA_DIR`, before the server starts.
 */
async function startDatabase(context: SupervisorContext, onLocked: () => void): Promise<string> {
  const { config, logger, orphanGuard, onConfigurationError, addStopStage, signal } = context;
  let address: { url: string; port: number } | undefined;
  const start = async () => {
    const port = address?.port ?? config.database.port;
    const server = await startPostgres({
      dataDir: config.dataDir,
      replicates: config.database.replicates,
      ...{ logger, signal },
      ...(port === null ? {} : { port }),
      onLocked() {
        if (address === undefined) writeStarting(config.dataDir);
        onLocked();
      },
      onSpawn: (pid) => orphanGuard.add(pid, "SIGINT"),
    });
    address = server;
    const exited = server.exited.then((reason) => {
      orphanGuard.remove(server.pid);
      return { code: null, reason };
    });
    logger.info({ port: server.port }, "PostgreSQL started");
    return { exited, stop: server.stop };
  };
  const stage = addStopStage();
  try {
    stage.push(await keepRunning({ name: "postgres", start, logger, onConfigurationError }));
  } catch (error) {
    if (error instanceof PortInUseError) {
      const { message } = error;
      throw new ConfigurationError([
        `DATABASE_PORT: expected a port of 127.0.0.1 that nothing listens on; ${message}. Example: DATABASE_PORT=15432`,
      ]);
    }
    if (!(error instanceof DirectoryInUseError)) throw error;
    throw new ConfigurationError([
      `DATA_DIR: expected a directory that no other process uses; ${error.message}. Example: DATA_DIR=.data-2`,
    ]);
  }
  if (address === undefined) throw new Error("PostgreSQL has no address");
  const { url } = address;
  signal.addEventListener("abort", () => void writeCheckpoint(url));
  return url;
}

/** Throws where an address leads to a pooler instead of the database, or the pooler's to another database. */
async function checkAddresses(
  { DATABASE_URL: url, ...others }: DatabaseAddresses,
  poolerUrl: string | null,
  logger: Logger,
): Promise<void> {
  const problems: string[] = [];
  for (const [name, address] of Object.entries({ DATABASE_URL: url, ...others })) {
    if ((await checkDirect(address)) !== null) problems.push(`${name}: ${needsDatabase}`);
  }
  const pooled = await checkPooled({ url, poolerUrl }).catch((error: Error) => {
    logger.warn({ reason: error.message }, "pooler does not answer");
    return null;
  });
  if (pooled?.isFault) problems.push(`${pooled.finding}: ${pooled.advice}`);
  if (problems.length > 0) throw new ConfigurationError(problems);
}

const needsDatabase =
  "expected the address of the database itself, got that of a pooler in front of it. " +
  "Set DATABASE_POOLER_URL to the pooler's address";

/**
 * The configuration with the ports of this start's console and metrics. Without OPERATOR_PORT the console takes the port
 * after the API's, or a free one. With it, or where others reach the API, metrics are served on a port of their own, and
 * the console passes them on.
 */
export async function withOperatorPorts(
  config: Config,
  roles: readonly RoleName[],
): Promise<Config> {
  const { http } = config;
  if (!roles.includes("console")) return { ...config, console: { ...config.console, port: null } };
  const port = config.console.port ?? (await findFreePort(config.console.host, http.port + 1));
  const isShared =
    http.metricsPort === null ? !isLoopback(http.host) : http.metricsPort === config.console.port;
  const metricsPort = isShared ? await findFreePort("127.0.0.1", port + 1) : http.metricsPort;
  return { ...config, http: { ...http, metricsPort }, console: { ...config.console, port } };
}

/** The settings of the processes that follow from it. */
function operatorSettingsOf({ http, console }: Config): Record<string, string> {
  return {
    ...(console.port === null ? {} : { OPERATOR_PORT: `${console.port}` }),
    ...(http.metricsPort === null ? {} : { METRICS_PORT: `${http.metricsPort}` }),
  };
}
