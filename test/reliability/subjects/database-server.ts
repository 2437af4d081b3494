import { mkdir, rm } from "node:fs/promises";
import { pino } from "pino";
import { startPostgres } from "#ops/postgres/embedded.ts";
import type { OrphanGuard } from "#ops/processes/child.ts";
import { readUsage } from "#test/hostile-contracts/process-usage.ts";
import { kill } from "#test/soak/processes.ts";
import { makeServerDirectory } from "#test/support/database/server-directory.ts";

/** A PostgreSQL of a trial's own. */
export type TrialServer = {
  readonly url: string;
  /** As its image is stopped: connections end. */
  stop(): Promise<void>;
  start(): Promise<void>;
  /** All of its processes stand still, until `thaw`. */
  freeze(): Promise<void>;
  thaw(): Promise<void>;
  close(): Promise<void>;
};

export async function openTrialServer(orphanGuard: OrphanGuard): Promise<TrialServer> {
  const dataDir = await makeServerDirectory();
  await mkdir(dataDir, { recursive: true });
  const run = (port?: number) =>
    startPostgres({
      ...{ dataDir, logger: pino({ level: "silent" }), durable: false },
      onSpawn: (pid) => orphanGuard.add(pid, "SIGINT"),
      ...(port !== undefined && { port }),
    });
  let server = await run();
  const { url, port } = server;
  const stop = async () => {
    await server.stop();
    orphanGuard.remove(server.pid);
  };
  const signal = async (name: NodeJS.Signals) => {
    for (const entry of (await readUsage(server.pid)).keys())
      kill(Number.parseInt(entry, 10), name);
  };
  return {
    ...{ url, stop, freeze: () => signal("SIGSTOP"), thaw: () => signal("SIGCONT") },
    async start() {
      server = await run(port);
    },
    async close() {
      await signal("SIGCONT");
      await stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
