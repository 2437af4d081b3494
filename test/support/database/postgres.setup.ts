import { rm } from "node:fs/promises";
import { pino } from "pino";
import type { TestProject } from "vitest/node";
import { type EmbeddedPostgres, startPostgres } from "#ops/postgres/embedded.ts";
import { startOrphanGuard } from "#ops/processes/child.ts";
import { makeServerDirectory, removeLeftoverDirectories } from "./server-directory.ts";
import { makeTemplates } from "./template.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Superuser URL of the run's server; tests' databases are copies of its databases `template` and `projected`. */
    postgresUrl: string;
  }
}

let server: EmbeddedPostgres | undefined;
let directory: string | undefined;

/** One server for the run. It ends with the run, also with a run that is killed. */
export async function setup(project: TestProject): Promise<void> {
  await removeLeftoverDirectories();
  directory = await makeServerDirectory();
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
