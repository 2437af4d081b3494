import { setTimeout as delay } from "node:timers/promises";
import { sql } from "kysely";
import { type Database, openDatabase } from "../../../projections/database.ts";
import { migrate } from "../../../projections/log/migrate.ts";
import { writeInstallation } from "./installation.ts";
import { type LocalChains, localChainsEnvironment } from "./local-chains.ts";
import { readProgress } from "./read-progress.ts";
import { startDatabase } from "./start-database.ts";
import { startLocalChains } from "./start-local-chains.ts";
import { startRoles } from "./start-roles.ts";
import { type SupervisorContext, usesDataDirectory } from "./supervisor-context.ts";

/** Starts the parts in order and waits until all of them are caught up. */
export async function startService(
  supervision: SupervisorContext,
): Promise<LocalChains | undefined> {
  const { config, environment, logger } = supervision;
  const databaseUrl = config.database.url ?? (await startDatabase(supervision));
  const db = openDatabase({
    url: databaseUrl,
    applicationName: "supervisor",
    max: 2,
    onIdleError: (error) => logger.debug(error.message),
  });
  try {
    await prepareDatabase(db, supervision);
    const local = config.localChains ? await startLocalChains(supervision) : undefined;
    const found: Record<string, string> = {
      DATA_DIR: config.dataDir,
      CURATED_FILE: config.curated.file,
      DATABASE_URL: databaseUrl,
      ...(local === undefined ? {} : localChainsEnvironment(config, environment, local)),
    };
    if (usesDataDirectory(config)) process.once("exit", writeInstallation(config.dataDir, found));
    const areReady = await startRoles(supervision, {
      ...environment,
      ...found,
      LOG_FORMAT: "json",
      PONDER_TELEMETRY_DISABLED: "1",
    });
    await showProgressUntil(areReady, db, supervision);
    return local;
  } finally {
    await db.destroy();
  }
}

/** Waits for a database that is not there yet; a migration that fails is final. */
async function prepareDatabase(db: Database, { logger, signal }: SupervisorContext): Promise<void> {
  for (let tries = 0; ; tries += 1) {
    signal.throwIfAborted();
    const fault = await sql`select 1`.execute(db).then(
      () => undefined,
      (error: Error) => error,
    );
    if (fault === undefined) break;
    if (tries % 10 === 0) logger.warn(`the database does not answer: ${fault.message}`);
    await delay(1_000, undefined, { signal });
  }
  logger.info("bringing the database up to date");
  await migrate(db);
}

/** Caught up is what `/readyz` says; without an API, what the roles say of themselves. */
async function showProgressUntil(
  areReady: () => boolean,
  db: Database,
  { config, roles, logger, signal }: SupervisorContext,
): Promise<void> {
  const chainIds = config.chains.map(({ chainId }) => chainId);
  const isReady = roles.includes("api") ? () => answersReady(config.http) : async () => areReady();
  let shown = "";
  let shownAt = Date.now();
  while (!(await isReady())) {
    await delay(250, undefined, { signal });
    if (Date.now() - shownAt < 1_000) continue;
    shownAt = Date.now();
    const progress = await readProgress(db, chainIds).catch((error: Error) => error.message);
    if (progress !== shown) logger.info(`catching up: ${progress}`);
    shown = progress;
  }
}

async function answersReady({ host, port }: { host: string; port: number }): Promise<boolean> {
  const name = ["0.0.0.0", "::"].includes(host) ? "localhost" : host;
  const authority = name.includes(":") ? `[${name}]` : name;
  try {
    const response = await fetch(`http://${authority}:${port}/readyz`, {
      signal: AbortSignal.timeout(3_000),
    });
    await response.arrayBuffer();
    return response.status === 200;
  } catch {
    // Not listening yet.
    return false;
  }
}
