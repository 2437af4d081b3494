import { ConfigurationError } from "#ops/config/read-config.ts";
import { DirectoryInUseError } from "#ops/postgres/live-processes.ts";
import { PortInUseError, startPostgres } from "#ops/postgres/embedded.ts";
import { writeStarting } from "./installation.ts";
import { keepRunning } from "./keep-running.ts";
import type { SupervisorContext } from "./supervisor-context.ts";

/**
 * Runs the embedded PostgreSQL; it keeps its port when it is restarted. Returns its URL. `onLocked` is called once no
 * other process may use `DATA_DIR`, before the server starts.
 */
export async function startDatabase(
  context: SupervisorContext,
  onLocked: () => void,
): Promise<string> {
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
  return address.url;
}
