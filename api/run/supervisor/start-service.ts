import { setTimeout as delay } from "node:timers/promises";
import { sql } from "kysely";
import { type Database, openDatabase } from "../../../projections/database.ts";
import { migrate, pendingMigrations } from "../../../projections/log/migrate.ts";
import type { Config } from "../config/config.ts";
import { writeInstallation } from "./installation.ts";
import { listeningUrl } from "./listening-url.ts";
import { type LocalChains, localChainsEnvironment } from "./local-chains.ts";
import { openProgressReader } from "./read-progress.ts";
import { showProgressUntil } from "./show-progress.ts";
import { startDatabase } from "./start-database.ts";
import { startLocalChains } from "./start-local-chains.ts";
import { startRoles } from "./start-roles.ts";
import { type SupervisorContext, usesDataDirectory } from "./supervisor-context.ts";

/** Starts database, local chains and roles in order, and waits until all of them are current. */
export async function startService(context: SupervisorContext): Promise<LocalChains | undefined> {
  const { config, environment, logger, roles } = context;
  const databaseUrl = config.database.url ?? (await startDatabase(context));
  const db = openDatabase({
    url: databaseUrl,
    applicationName: "supervisor",
    max: 2,
    onIdleError: (error) => logger.debug({ err: error }, "database connection lost"),
  });
  try {
    await prepareDatabase(db, context);
    const local = config.localChains ? await startLocalChains(context) : undefined;
    const addresses: Record<string, string> = {
      DATA_DIR: config.dataDir,
      CURATED_FILE: config.curated.file,
      DATABASE_URL: databaseUrl,
      ...(local === undefined ? {} : localChainsEnvironment(config, environment, local)),
    };
    if (usesDataDirectory(config))
      process.once("exit", writeInstallation(config.dataDir, addresses));
    const haveReportedReady = await startRoles(context, {
      ...environment,
      ...addresses,
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

/** Waits until the database answers, then migrates it. A migration that fails is not retried. */
async function prepareDatabase(db: Database, { logger, signal }: SupervisorContext): Promise<void> {
  for (let tries = 0; ; tries += 1) {
    signal.throwIfAborted();
    const error = await sql`select 1`.execute(db).then(
      () => undefined,
      (reason: Error) => reason,
    );
    if (error === undefined) break;
    if (tries % 10 === 0) logger.warn({ reason: error.message }, "database does not answer");
    await delay(1_000, undefined, { signal });
  }
  const startedAt = performance.now();
  const pending = await pendingMigrations(db);
  await migrate(db);
  const durationMs = Math.round(performance.now() - startedAt);
  logger.info({ migrations: pending.length, durationMs }, "database migrated");
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
