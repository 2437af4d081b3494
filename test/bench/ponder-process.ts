import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { env, execPath } from "node:process";
import { createInterface } from "node:readline";
import { ponderDirectory } from "../../api/run/indexer/schema-name.ts";
import type { OrphanGuard } from "../../api/run/supervisor/orphan-guard.ts";
import { freePort } from "../support/database/pipeline.ts";
import { processorMs } from "./ponder-processor.ts";

const root = join(import.meta.dirname, "ponder-app");
const lanes = 16;

export type App = {
  command: "start" | "serve";
  schema: string;
  databaseUrl: string;
  rpcUrl: string;
  orphanGuard: OrphanGuard;
  postmaster: number;
};

/** A backfill as Ponder's own log tells of it; times are of this machine's clock, in milliseconds. */
export type Backfill = {
  events: number;
  firstHandlerAt: number;
  indexedAt: number;
  readyAt: number;
  /** Of its process and of PostgreSQL, from when it begins to read the cache until it is ready. */
  processorMs: number;
};

export type RunningApp = {
  pid: number;
  baseUrl: string;
  /** Of `start`: settles when it calls itself ready. Of `serve`: never. */
  backfilled: Promise<Backfill>;
  stop(): Promise<void>;
};

/** Ponder alone, with the handlers of `ponder-app`. */
export async function startApp(app: App): Promise<RunningApp> {
  const { orphanGuard, postmaster } = app;
  const port = await freePort();
  // It writes its GraphQL schema where it stands.
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
      // Of SIGTERM its bundler dies before Ponder has unlocked the schema.
      child.kill("SIGINT");
      await exited;
      orphanGuard.remove(pid);
      await rm(directory, { recursive: true, force: true });
    },
  };
}

const argumentsOf = ({ command, schema }: App, port: number) => [
  ...["--no-deprecation", join(ponderDirectory, "dist/esm/bin/ponder.js"), command],
  ...["--root", root, "--schema", schema, "--log-format", "json", "--log-level", "info"],
  ...["--hostname", "127.0.0.1", "--port", `${port}`],
];

const environmentOf = ({ databaseUrl, rpcUrl }: App) => ({
  ...{ PATH: env.PATH, HOME: env.HOME, NODE_ENV: "production" },
  ...{ PONDER_TELEMETRY_DISABLED: "1", DATABASE_URL: databaseUrl },
  BENCH_CHAIN_ID: "33139",
  BENCH_RPC_URLS: Array.from({ length: lanes }, () => rpcUrl).join(),
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
  const told = { events: 0, firstHandlerAt: Number.NaN, indexedAt: Number.NaN, beganMs: 0 };
  const ready = new Promise<Backfill>((settle, fail) => {
    const read = (text: string) => {
      const line = parseLine(text);
      if (line === undefined) return;
      if (line.level >= 50) fail(new Error(`Ponder says: ${text.slice(0, 2_000)}`));
      if (line.endpoint === "/health") told.beganMs = used();
      note(told, line);
      if (line.endpoint !== "/ready") return;
      settle({ ...told, readyAt: line.time, processorMs: used() - told.beganMs });
    };
    if (child.stdout !== null) createInterface({ input: child.stdout }).on("line", read);
    child.once("exit", (code) => fail(new Error(`Ponder ended with ${code}`)));
  });
  ready.catch(() => {});
  return ready;
}

function note(
  told: Pick<Backfill, "events" | "firstHandlerAt" | "indexedAt">,
  { msg, time, duration = 0, event_count: count = 0 }: Line,
): void {
  if (msg === "Completed backfill indexing across all chains") told.indexedAt = time;
  if (msg !== "Indexed block range") return;
  // Its range is read by then: the duration is of handlers and of storing.
  if (told.events === 0) told.firstHandlerAt = time - duration;
  told.events += count;
}

function parseLine(text: string): Line | undefined {
  return text.startsWith("{") ? (JSON.parse(text) as Line) : undefined;
}
