import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { pino } from "pino";
import { accounts } from "#devnet/accounts.ts";
import { readConfig } from "#ops/config/read-config.ts";
import { findFreePort } from "#ops/free-port.ts";
import type { LogSink } from "#ops/output/logger.ts";
import {
  keepRunning,
  type OrphanGuard,
  type RestartedProcess,
  startChild,
} from "#ops/processes/child.ts";
import { type RoleConfig, type RunningRole, roleDatabase } from "#ops/processes/roles/role.ts";
import { loadRole, type RoleName } from "#ops/processes/run-role.ts";
import { launch, roleFlags } from "#ops/programs.ts";

export type PipelineChain = { chainId: number; rpcUrl: string; wsUrl?: string };

type PipelineOptions = {
  databaseUrl: string;
  chains: readonly PipelineChain[];
  roles?: readonly RoleName[];
  /** More of the environment. */
  settings?: Record<string, string>;
};

export type Pipeline = {
  /** `GET` of the API, parsed. */
  get(path: string): Promise<{ status: number; body: Record<string, unknown> }>;
  baseUrl: string;
  /** Roles in this process are ended in order, those apart as an operator would end them. */
  stop(): Promise<void>;
};

/** The environment of a pipeline over given chains and a given database. */
export async function pipelineSettings(options: PipelineOptions): Promise<Record<string, string>> {
  const settings: Record<string, string> = {
    PORT: String(await findFreePort()),
    DATABASE_URL: options.databaseUrl,
    FEE_RECIPIENT: accounts.feeRecipient,
    COLLECTIONS_1: "*",
    CURATED_FILE: join(import.meta.dirname, "no-collections.json"),
    PRICE_FEED_URLS: "none",
    RATE_LIMIT_KEYLESS: "0",
    LOG_LEVEL: "warn",
    LOG_FORMAT: "json",
  };
  for (const { chainId, rpcUrl, wsUrl } of options.chains) {
    settings[`RPC_URL_${chainId}`] = rpcUrl;
    settings[`START_BLOCK_${chainId}`] = "0";
    settings[`WRAPPED_NATIVE_EVENTS_${chainId}`] = "all";
    if (wsUrl !== undefined) settings[`WS_URL_${chainId}`] = wsUrl;
  }
  return { ...settings, ...options.settings };
}

/** The same, as roles are given it. */
export async function pipelineConfig(options: PipelineOptions): Promise<RoleConfig> {
  const config = readConfig(await pipelineSettings(options));
  const { url } = config.database;
  const { recipient } = config.fees;
  if (url === null || recipient === null) throw new Error("settings are missing");
  const database = roleDatabase(config.database, url);
  return { ...config, database, fees: { ...config.fees, recipient } };
}

/** Starts roles in this process, over real chains and a real database, and waits until each is ready. */
export async function startPipeline(options: PipelineOptions): Promise<Pipeline> {
  const config = await pipelineConfig(options);
  const logger = pino({ level: config.log.level });
  const ending = new AbortController();
  const running: RunningRole[] = [];
  for (const role of options.roles ?? (["indexer", "projector", "api"] as const)) {
    const run = await loadRole(role);
    const one = await run({
      config,
      logger: logger.child({ part: role }),
      signal: ending.signal,
    });
    running.push(one);
    await one.ready;
  }
  const { baseUrl } = config.http;
  return {
    baseUrl,
    get: (path) => getJson(baseUrl, path),
    async stop() {
      for (const one of running.reverse()) await one.stop();
      ending.abort();
    },
  };
}

export async function getJson(baseUrl: string, path: string) {
  const response = await fetch(`${baseUrl}${path}`);
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

/** Starts a role as an operator does, in a process of its own. */
export function spawnRole(role: RoleName, settings: Record<string, string>): ChildProcess {
  const root = join(import.meta.dirname, "../../..");
  return spawn(process.execPath, launch("service", "--only", role), {
    cwd: root,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...settings },
    stdio: ["ignore", "inherit", "inherit"],
  });
}

export type KeptRole = RestartedProcess & {
  /** Of its present life. */
  pid(): number;
  /** Settles when its first life calls itself ready. */
  ready: Promise<void>;
};

type KeepOptions = { settings: Record<string, string>; orphanGuard: OrphanGuard; sink: LogSink };

/** Runs a role as the supervisor does: in a process of its own, started again whenever it dies. */
export async function keepRole(role: RoleName, options: KeepOptions): Promise<KeptRole> {
  const { settings, orphanGuard, sink } = options;
  let pid = 0;
  let onReady = () => {};
  const ready = new Promise<void>((resolve) => {
    onReady = resolve;
  });
  const part = await keepRunning({
    name: role,
    start: async () => {
      const life = startChild({
        name: role,
        script: [...(roleFlags[role] ?? []), ...launch("service", "--only", role)],
        environment: { PATH: process.env.PATH, HOME: process.env.HOME, ...settings },
        orphanGuard,
        sink,
        onMessage: () => onReady(),
      });
      pid = life.pid ?? 0;
      return life;
    },
    logger: pino({ level: "warn" }, { write: sink }),
    onConfigurationError: () => sink(`${role} refuses its configuration`),
  });
  return { ...part, pid: () => pid, ready };
}

/** Looking takes at most a fifth of the time, so that it does not delay what it waits for. */
const pauseAfter = (tookMs: number) => Math.min(1_000, Math.max(25, 4 * tookMs));

/** Polls until `condition` returns a value; a timeout's error names what was awaited. */
export async function until<Value>(
  what: string,
  condition: () => Promise<Value | undefined | false | null>,
  withinMs = 300_000,
): Promise<Value> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const startedAt = performance.now();
    const value = await condition();
    if (value !== undefined && value !== false && value !== null) return value;
    const now = performance.now();
    if (now > deadline) throw new Error(`waited ${withinMs} ms for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, pauseAfter(now - startedAt)));
  }
}

/** Waits until the API is ready; a timeout's error names the failed checks. */
export async function untilReady(pipeline: Pipeline, withinMs = 300_000): Promise<void> {
  let last: unknown;
  await until(
    "readiness",
    async () => {
      const { status, body } = await pipeline.get("/readyz");
      last = body;
      return status === 200;
    },
    withinMs,
  ).catch((error: Error) => {
    throw new Error(`${error.message}: ${JSON.stringify(last)}`);
  });
}
