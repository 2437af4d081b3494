import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { env, execPath } from "node:process";
import { createInterface } from "node:readline";
import { findFreePort } from "#ops/free-port.ts";
import type { OrphanGuard } from "#ops/processes/child.ts";
import { installedPonder } from "#test/support/chain/ponder.ts";
import { processorMs } from "./processor.ts";

const root = join(import.meta.dirname, "../ponder-app");
const parallelRpcs = 16;

export type App = {
  command: "start" | "serve";
  schema: string;
  databaseUrl: string;
  rpcUrl: string;
  orphanGuard: OrphanGuard;
  postmaster: number;
};

/** A backfill's figures from Ponder's log; times in milliseconds of this machine's clock. */
export type Backfill = {
  events: number;
  firstHandlerAt: number;
  indexedAt: number;
  readyAt: number;
  /** Processor time of Ponder and PostgreSQL from the start of reading the cache until ready. */
  processorMs: number;
};

export type RunningApp = {
  pid: number;
  baseUrl: string;
  /** For `start`: resolves when Ponder is ready. For `serve`: never. */
  backfilled: Promise<Backfill>;
  stop(): Promise<void>;
};

/** Starts Ponder with the handlers of `ponder-app`. */
export async function startApp(app: App): Promise<RunningApp> {
  const { orphanGuard, postmaster } = app;
  const port = await findFreePort();
  // Ponder writes its GraphQL schema to its working directory.
  const directory = await mkdtemp(join(tmpdir(), "bench-ponder-"));
  const child = spawn(execPath, argumentsOf(app, port), {
    cwd: directory,
    detached: true,
    stdio: ["ignore", "pipe", "inherit"],
    env: environmentOf(app),
  });
  const { pid } = child;
  if (pid === undefined) throw new Error("Ponder did not start");
  orphanGuard.add(pid, "SIGTERM");
  const exited = new Promise<void>((settle) => child.once("exit", () => settle()));
  return {
    pid,
    baseUrl: `http://127.0.0.1:${port}`,
    backfilled: readBackfill(child, () => processorMs(pid) + processorMs(postmaster)),
    async stop() {
      // On SIGTERM its bundler exits before Ponder has unlocked the schema.
      child.kill("SIGINT");
      await exited;
      orphanGuard.remove(pid);
      await rm(directory, { recursive: true, force: true });
    },
  };
}

const argumentsOf = ({ command, schema }: App, port: number) => [
  ...["--no-deprecation", installedPonder, command],
  ...["--root", root, "--schema", schema, "--log-format", "json", "--log-level", "info"],
  ...["--hostname", "127.0.0.1", "--port", `${port}`],
];

const environmentOf = ({ databaseUrl, rpcUrl }: App) => ({
  ...{ PATH: env.PATH, HOME: env.HOME, NODE_ENV: "production" },
  ...{ PONDER_TELEMETRY_DISABLED: "1", DATABASE_URL: databaseUrl },
  BENCH_CHAIN_ID: "33139",
  BENCH_RPC_URLS: Array.from({ length: parallelRpcs }, () => rpcUrl).join(),
  BENCH_LOGS_BLOCK_RANGE: "50",
});

type Line = {
  level: number;
  time: number;
  msg: string;
  endpoint?: string;
  event_count?: number;
  duration?: number;
};

function readBackfill(child: ChildProcess, used: () => number): Promise<Backfill> {
  const progress = {
    events: 0,
    firstHandlerAt: Number.NaN,
    indexedAt: Number.NaN,
    startedCpuMs: 0,
  };
  const ready = new Promise<Backfill>((settle, fail) => {
    const read = (text: string) => {
      const line = parseLine(text);
      if (line === undefined) return;
      if (line.level >= 50) fail(new Error(`Ponder logged an error: ${text.slice(0, 2_000)}`));
      if (line.endpoint === "/health") progress.startedCpuMs = used();
      recordLine(progress, line);
      if (line.endpoint !== "/ready") return;
      settle({ ...progress, readyAt: line.time, processorMs: used() - progress.startedCpuMs });
    };
    if (child.stdout !== null) createInterface({ input: child.stdout }).on("line", read);
    child.once("exit", (code) => fail(new Error(`Ponder exited with ${code}`)));
  });
  ready.catch(() => {});
  return ready;
}

function recordLine(
  progress: Pick<Backfill, "events" | "firstHandlerAt" | "indexedAt">,
  { msg, time, duration = 0, event_count: count = 0 }: Line,
): void {
  if (msg === "Completed backfill indexing across all chains") progress.indexedAt = time;
  if (msg !== "Indexed block range") return;
  // The duration covers handlers and storing; the range has been read before.
  if (progress.events === 0) progress.firstHandlerAt = time - duration;
  progress.events += count;
}

function parseLine(text: string): Line | undefined {
  return text.startsWith("{") ? (JSON.parse(text) as Line) : undefined;
}
