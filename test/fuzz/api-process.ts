import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { openSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";
import { findFreePort } from "#ops/free-port.ts";
import { launch } from "#ops/programs.ts";

const root = join(import.meta.dirname, "../..");
const probe = join(import.meta.dirname, "event-loop-probe.mjs");

/** The longest that the event loop was kept from anything else since the last look, in milliseconds. */
export type Stall = {
  /** Of the main thread's time on a CPU between two looks of a timer: what other processes do does not count. */
  cpuMs: number;
  /** By the clock (`perf_hooks.monitorEventLoopDelay`). */
  wallMs: number;
};
const Stall = z.object({ cpuMs: z.number(), wallMs: z.number() });

export type ApiProcess = {
  url: string;
  pid: number;
  readStall(): Promise<Stall>;
  /** Whether it ended by itself. */
  hasEnded(): boolean;
  stop(): Promise<void>;
};

const startMs = 120_000;

/** Starts an API process over the database and nodes of a running market, without rate limits; its errors are in `logFile`. */
export async function startApi(
  environment: Record<string, string>,
  logFile: string,
): Promise<ApiProcess> {
  const [port, log] = [await findFreePort(), openSync(logFile, "a")];
  const url = `http://127.0.0.1:${port}`;
  const settings = {
    ...{ PORT: `${port}`, RATE_LIMIT_KEYLESS: "0", RATE_LIMIT_ACCOUNT: "0", RATE_LIMIT_KEY: "0" },
    ...{ LOG_LEVEL: "error", LOG_FORMAT: "json" },
  };
  const child = spawn(
    process.execPath,
    ["--import", probe, ...launch("service", "--only", "api", "--name", "api")],
    {
      cwd: root,
      env: { PATH: process.env.PATH, HOME: process.env.HOME, ...environment, ...settings },
      stdio: ["ignore", log, log, "ipc"],
    },
  );
  const { pid } = child;
  if (pid === undefined) throw new Error("the API did not start");
  await untilHealthy(url, child);
  return {
    url,
    pid,
    async readStall() {
      child.send("look");
      for (;;) {
        const [message] = await once(child, "message");
        const { data } = Stall.safeParse(message);
        if (data !== undefined) return data;
      }
    },
    hasEnded: () => child.exitCode !== null || child.signalCode !== null,
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill("SIGTERM");
      await once(child, "exit");
    },
  };
}

async function untilHealthy(url: string, child: ChildProcess): Promise<void> {
  for (const deadline = Date.now() + startMs; ; await delay(200)) {
    const answer = await fetch(`${url}/healthz`).catch(() => null);
    if (answer?.ok) return;
    if (child.exitCode !== null || Date.now() > deadline) throw new Error("the API did not start");
  }
}
