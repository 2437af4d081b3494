import { rm } from "node:fs/promises";
import { pino } from "pino";
import { startPostgres } from "#ops/postgres/embedded.ts";
import { startOrphanGuard } from "#ops/processes/child.ts";
import { makeServerDirectory } from "./server-directory.ts";
import { makeTemplates } from "./template.ts";

/** A PostgreSQL of a test's own, which it may stop and start. */
export type OwnServer = {
  /** Superuser URL, the same after a start. */
  readonly url: string;
  readonly dataDir: string;
  stop(): Promise<void>;
  /** Ends it as a crash does; its next start recovers. */
  kill(): Promise<void>;
  start(): Promise<void>;
  close(): Promise<void>;
};

type OwnServerOptions = {
  /** Whether standbys may follow it. */
  readonly replicates?: boolean;
  /** Of a copy; by default a new one with the tests' templates. */
  readonly dataDir?: string;
};

export async function openOwnServer(options: OwnServerOptions = {}): Promise<OwnServer> {
  const dataDir = options.dataDir ?? (await makeServerDirectory());
  const { replicates = false } = options;
  const orphanGuard = startOrphanGuard();
  const run = (port?: number) =>
    startPostgres({
      dataDir,
      logger: pino({ level: "silent" }),
      durable: false,
      replicates,
      onSpawn: (pid) => orphanGuard.add(pid, "SIGINT"),
      ...(port !== undefined && { port }),
    });
  let server = await run();
  const { url, port } = server;
  if (options.dataDir === undefined) await makeTemplates(url);
  const stop = async () => {
    await server.stop();
    orphanGuard.remove(server.pid);
  };
  return {
    ...{ url, dataDir },
    stop,
    async kill() {
      process.kill(server.pid, "SIGKILL");
      await server.exited;
      orphanGuard.remove(server.pid);
    },
    async start() {
      server = await run(port);
    },
    async close() {
      await stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
