import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { seedMarket } from "#devnet/market/seed.ts";
import { startPostgres } from "#ops/postgres/embedded.ts";
import { startOrphanGuard } from "#ops/processes/child.ts";
import type { RoleName } from "#ops/processes/run-role.ts";
import { type Market, openMarket } from "../support/chain/market.ts";
import {
  getJson,
  keepRole,
  type PipelineChain,
  pipelineSettings,
  until,
} from "../support/database/pipeline.ts";
import { migrateDatabase } from "./server.ts";

const allRoles: readonly RoleName[] = ["indexer", "projector", "jobs", "api"];
const stopMs = 8_000;
const readyMs = 120_000;

export type Installation = {
  ethereum: Market;
  apechain: Market;
  /** Runs the roles over these chains, each in a process of its own, while `work` is done. */
  whileServing<Result>(
    chains: readonly PipelineChain[],
    work: (baseUrl: string, databaseUrl: string) => Promise<Result>,
    /** In addition to those of the chains. */
    settings?: Record<string, string>,
  ): Promise<Result>;
};

/** Two seeded chains and a durable PostgreSQL while `work` is done; no role runs yet. */
export async function withInstallation<Result>(
  work: (installation: Installation) => Promise<Result>,
): Promise<Result> {
  const orphanGuard = startOrphanGuard();
  const directory = await mkdtemp(join(tmpdir(), "bench-"));
  const cleanups: (() => Promise<unknown>)[] = [
    async () => orphanGuard.killAll(),
    () => rm(directory, { recursive: true, force: true }),
  ];
  try {
    const server = await startPostgres({
      dataDir: directory,
      logger: pino({ level: "silent" }),
      onSpawn: (pid) => orphanGuard.add(pid, "SIGINT"),
    });
    cleanups.push(() => server.stop());
    await migrateDatabase(server.url);
    const open = async (chainId: 1 | 33139): Promise<Market> => {
      const market = await openMarket({ chainId, timestamp: fourDaysAgo() });
      cleanups.push(market.stop);
      await seedMarket(market.client, { chainId, seed: 31 });
      return market;
    };
    const [ethereum, apechain] = await Promise.all([open(1), open(33139)]);
    return await work({
      ethereum,
      apechain,
      whileServing: (chains, task, settings = {}) =>
        serve({ url: server.url, chains, orphanGuard, settings }, (baseUrl) =>
          task(baseUrl, server.url),
        ),
    });
  } finally {
    for (const clean of cleanups.reverse()) await clean().catch(() => undefined);
  }
}

export type Serving = {
  url: string;
  chains: readonly PipelineChain[];
  orphanGuard: ReturnType<typeof startOrphanGuard>;
  settings?: Record<string, string>;
  roles?: readonly RoleName[];
  readyWithinMs?: number;
};

/** Runs roles, each in a process of its own, and does `task` when they are ready: with the API's address and the settings. */
export async function serve<Result>(
  serving: Serving,
  task: (baseUrl: string, settings: Record<string, string>) => Promise<Result>,
): Promise<Result> {
  const { url, chains, orphanGuard, settings: extraSettings = {}, roles = allRoles } = serving;
  const settings = await pipelineSettings({ databaseUrl: url, chains, settings: extraSettings });
  const baseUrl = `http://127.0.0.1:${settings.PORT}`;
  const sink = (line: string) => void process.stderr.write(`${line.trimEnd()}\n`);
  const running = await Promise.all(
    roles.map((role) => keepRole(role, { settings, orphanGuard, sink })),
  );
  try {
    await Promise.all(running.map(({ ready }) => ready));
    const isReady = async () => (await getJson(baseUrl, "/readyz")).status === 200;
    await until("readiness", isReady, serving.readyWithinMs ?? readyMs);
    return await task(baseUrl, settings);
  } finally {
    await Promise.all(running.map((role) => role.stop(stopMs)));
  }
}

const fourDaysAgo = (): number => Math.floor(Date.now() / 1000) - 4 * 86_400;
