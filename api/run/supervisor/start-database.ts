import { ConfigurationError } from "../config/config.ts";
import { InUseError } from "../postgres/claim.ts";
import { startPostgres } from "../postgres/embedded.ts";
import { keepRunning } from "./keep-running.ts";
import type { Supervision } from "./supervision.ts";

/** Runs the embedded PostgreSQL as a part; its address stays the same across restarts. */
export async function startDatabase(supervision: Supervision): Promise<string> {
  const { config, logger, leash, refuse, addStage } = supervision;
  logger.info("starting PostgreSQL");
  let address: { url: string; port: number } | undefined;
  const launch = async () => {
    const server = await startPostgres({
      dataDir: config.dataDir,
      logger,
      ...(address === undefined ? {} : { port: address.port }),
      onSpawn: (pid) => leash.hold(pid, "SIGINT"),
    });
    address = server;
    const exited = server.exited.then((words) => {
      leash.release(server.pid);
      return { code: null, words };
    });
    return { exited, stop: server.stop };
  };
  const stage = addStage();
  try {
    stage.push(await keepRunning({ name: "postgres", launch, logger, onRefusal: refuse }));
  } catch (error) {
    if (!(error instanceof InUseError)) throw error;
    throw new ConfigurationError([
      `DATA_DIR: expected a directory of this start's own; ${error.message}. Example: DATA_DIR=.data-2`,
    ]);
  }
  if (address === undefined) throw new Error("PostgreSQL has no address");
  return address.url;
}
