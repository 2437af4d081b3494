import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import type { LogSink } from "#ops/output/logger.ts";
import { hasRunningMember } from "#ops/postgres/live-processes.ts";
import { projectRoot } from "#ops/programs.ts";
import type { ChildRun, Exit } from "./keep-running.ts";
import type { OrphanGuard } from "./orphan-guard.ts";

export type ChildOptions = {
  /** Shown in its log lines. */
  name: string;
  /** Arguments of Node: a module and what it takes. */
  script: string[];
  environment: Record<string, string | undefined>;
  orphanGuard: OrphanGuard;
  sink: LogSink;
  /** Called with each line of its output; true keeps the line out of the log. */
  onLine?: (line: string) => boolean;
  onMessage?: (message: unknown) => void;
};

export type StartedChild = ChildRun & {
  pid: number | undefined;
  /** Sends it a message; one that has just exited gets none. */
  send: (message: object) => void;
};

/**
 * Runs a module in its own process group: a signal from the terminal reaches only the supervisor, and processes that
 * the module started and left running can be ended with it.
 */
export function startChild(options: ChildOptions): StartedChild {
  const { name, script, environment, orphanGuard, sink } = options;
  const child = spawn(process.execPath, script, {
    cwd: projectRoot,
    env: environment,
    detached: true,
    // The local chains exit when their standard input closes.
    stdio: ["pipe", "pipe", "pipe", "ipc"],
  });
  const { pid } = child;
  if (pid !== undefined) orphanGuard.add(pid, "SIGTERM");
  if (options.onMessage) child.on("message", options.onMessage);
  // Writing to a process that has just exited must not crash this one.
  child.on("error", () => {});
  child.stdin?.on("error", () => {});
  for (const stream of [child.stdout, child.stderr]) {
    if (stream) readLines(stream, (line) => options.onLine?.(line) || sink(asLogLine(name, line)));
  }
  const exited = exitOf(child).then(async (exit) => {
    if (pid !== undefined) {
      await endGroup(pid);
      orphanGuard.remove(pid);
    }
    return exit;
  });
  return {
    pid,
    exited,
    stop: (timeoutMs) => terminate(child, exited, timeoutMs),
    send: (message) => {
      if (child.connected) child.send(message);
    },
  };
}

function exitOf(child: ChildProcess): Promise<Exit> {
  return new Promise((settle) => {
    child.once("error", (error) => settle({ code: null, reason: error.message }));
    child.once("exit", (code, signal) => settle({ code, reason: signal ?? `exit ${code}` }));
  });
}

async function terminate(
  child: ChildProcess,
  exited: Promise<Exit>,
  timeoutMs: number,
): Promise<void> {
  const killTimer = setTimeout(() => child.pid && signalGroup(child.pid, "SIGKILL"), timeoutMs);
  child.kill("SIGTERM");
  await exited;
  clearTimeout(killTimer);
}

/** Ends processes that the exited one had started and not stopped. */
async function endGroup(pid: number): Promise<void> {
  if (!signalGroup(pid, "SIGINT")) return;
  for (let tries = 0; tries < 40; tries += 1) {
    if (!hasRunningMember(pid)) return;
    await delay(50);
  }
  signalGroup(pid, "SIGKILL");
}

/** Returns whether the group still has members. */
function signalGroup(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(-pid, signal);
  } catch {
    return false;
  }
}

function readLines(stream: Readable, onLine: (line: string) => void): void {
  createInterface({ input: stream }).on("line", (line) => {
    if (line.trim() !== "") onLine(line);
  });
}

/** Processes log JSON; other output (a crash, a warning) becomes a log line with level warn. */
function asLogLine(part: string, line: string): string {
  if (line.startsWith("{") && line.includes('"level"')) return line;
  return JSON.stringify({ level: 40, time: Date.now(), part, msg: line });
}
