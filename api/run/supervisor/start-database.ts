import { ConfigurationError } from "../config/config.ts";
import { DirectoryInUseError } from "../postgres/directory-lock.ts";
import { startPostgres } from "../postgres/embedded.ts";
import { keepRunning } from "./keep-running.ts";
import type { SupervisorContext } from "./supervisor-context.ts";

/** Runs the embedded PostgreSQL as a part; its address stays the same across restarts. */
export async function startDatabase(supervision: SupervisorContext): Promise<string> {
  const { config, logger, orphanGuard, onConfigurationError, addStopStage } = supervision;
  logger.info("starting PostgreSQL");
  let address: { url: string; port: number } | undefined;
  const launch = async () => {
    const server = await startPostgres({
      dataDir: config.dataDir,
      logger,
      ...(address === undefined ? {} : { port: address.port }),
      onSpawn: (pid) => orphanGuard.add(pid, "SIGINT"),
    });
    address = server;
    const exited = server.exited.then((words) => {
      orphanGuard.remove(server.pid);
      return { code: null, words };
    });
    return { exited, stop: server.stop };
  };
  const stage = addStopStage();
  try {
    stage.push(
      await keepRunning({ name: "postgres", start: launch, logger, onConfigurationError }),
    );
  } catch (error) {
    if (!(error instanceof DirectoryInUseError)) throw error;
    throw new ConfigurationError([
      `DATA_DIR: expected a directory of this start's own; ${error.message}. Example: DATA_DIR=.data-2`,
    ]);
  }
  if (address === undefined) throw new Error("PostgreSQL has no address");
  return address.url;
}
