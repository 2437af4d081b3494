import { openDatabase } from "#projections/log/database.ts";
import { type Config, listeningUrl } from "#ops/config/config.ts";
import { writeInstallation } from "./installation.ts";
import { type LocalChains, localChainsEnvironment } from "./local-chains.ts";
import { operatorSettingsOf } from "./operator-ports.ts";
import { openAddresses, prepareDatabase } from "./prepare-database.ts";
import { openProgressReader } from "./read-progress.ts";
import { showProgressUntil } from "./show-progress.ts";
import { startLocalChains } from "./start-local-chains.ts";
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
