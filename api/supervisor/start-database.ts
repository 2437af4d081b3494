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
  addStage().push(await keepRunning({ name: "postgres", launch, logger, onRefusal: refuse }));
  if (address === undefined) throw new Error("PostgreSQL has no address");
  return address.url;
}
