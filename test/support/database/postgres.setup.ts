import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { pino } from "pino";
import type { TestProject } from "vitest/node";
import { type EmbeddedPostgres, startPostgres } from "../../../api/run/postgres/embedded.ts";
import { startTimeOf } from "../../../api/run/postgres/processes.ts";
import { startOrphanGuard } from "../../../api/run/supervisor/orphan-guard.ts";
import { makeServerDirectory, serverParents } from "./server-directory.ts";
import { makeTemplates } from "./template.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Superuser URL of the run's server; tests' databases are copies of its databases `template` and `projected`. */
    postgresUrl: string;
  }
}

const prefix = "test-postgres-";
let server: EmbeddedPostgres | undefined;
let directory: string | undefined;

/** One server for the run. It ends with the run, also with a run that is killed. */
export async function setup(project: TestProject): Promise<void> {
  await removeLeftovers();
  directory = await makeServerDirectory(`${prefix}${process.pid}-`);
  const orphanGuard = startOrphanGuard();
  server = await startPostgres({
    dataDir: directory,
    logger: pino({ level: "silent" }),
    durable: false,
    settings: { max_wal_size: "1GB" },
    onSpawn: (pid) => orphanGuard.add(pid, "SIGINT"),
  });
  void server.exited.then(() => orphanGuard.remove(server?.pid ?? 0));
  await makeTemplates(server.url);
  project.provide("postgresUrl", server.url);
}

export async function teardown(): Promise<void> {
  await server?.stop();
  if (directory !== undefined) await rm(directory, { recursive: true, force: true });
}

/** Files of runs that were killed. Those of another user are not ours to remove. */
async function removeLeftovers(): Promise<void> {
  for (const parent of serverParents) {
    for (const name of await readdir(parent).catch(() => [])) {
      const pid = name.startsWith(prefix) ? Number(name.slice(prefix.length).split("-")[0]) : 0;
      if (pid === 0 || startTimeOf(pid) !== undefined) continue;
      const path = join(parent, name);
      await rm(path, { recursive: true, force: true }).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== "EACCES" && error.code !== "EPERM") throw error;
      });
    }
  }
}
