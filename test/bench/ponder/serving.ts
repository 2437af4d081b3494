import type { OrphanGuard } from "#ops/processes/child.ts";
import { keepRole, until } from "#test/support/database/pipeline.ts";
import type { Servers } from "./lists.ts";
import { startApp } from "./process.ts";

const stopMs = 8_000;

type Pipeline = { settings: Record<string, string>; orphanGuard: OrphanGuard };

/** Runs `work` with the pids of our roles, each in a process of its own. */
export async function whileRunning<Result>(
  { settings, orphanGuard }: Pipeline,
  roles: readonly ("indexer" | "projector" | "api")[],
  work: (pids: number[]) => Promise<Result>,
): Promise<Result> {
  const sink = (line: string) => void process.stderr.write(`${line.trimEnd()}\n`);
  const running = await Promise.all(
    roles.map((role) => keepRole(role, { settings, orphanGuard, sink })),
  );
  try {
    await Promise.all(running.map(({ ready }) => ready));
    return await work(running.map((role) => role.pid()));
  } finally {
    await Promise.all(running.map((role) => role.stop(stopMs)));
  }
}

type Serving = Pipeline & { schema: string; rpcUrl: string; postmaster: number };

/** Runs `work` while Ponder's GraphQL serves a schema that it created, and our API runs. */
export async function whileServing<Result>(
  { schema, rpcUrl, postmaster, settings, orphanGuard }: Serving,
  work: (servers: Servers) => Promise<Result>,
): Promise<Result> {
  const app = await startApp({
    ...{ command: "serve", databaseUrl: settings.DATABASE_URL ?? "" },
    ...{ schema, rpcUrl, orphanGuard, postmaster },
  });
  try {
    return await whileRunning({ settings, orphanGuard }, ["api"], async ([pid = 0]) => {
      await until("Ponder's GraphQL", () => isServed(app.baseUrl));
      const ours = { baseUrl: `http://127.0.0.1:${settings.PORT}`, pid };
      const { baseUrl, pid: ponderPid } = app;
      return await work({ ours, ponder: { baseUrl, pid: ponderPid }, postmaster });
    });
  } finally {
    await app.stop();
  }
}

async function isServed(baseUrl: string): Promise<boolean> {
  return await fetch(`${baseUrl}/health`).then(
    ({ ok }) => ok,
    () => false,
  );
}
