import { type ChildProcess, spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { getPriority, setPriority } from "node:os";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "pino";
import { configurationExitCode } from "../config/read-config.ts";
import type { LogSink } from "../output/logger.ts";
import { hasRunningMember } from "../postgres/live-processes.ts";
import { projectRoot } from "../programs.ts";

type ChildOptions = {
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

/** One run of a child process, from its start to its exit. */
type ChildRun = {
  exited: Promise<Exit>;
  /** Asks it to exit, and kills it after the timeout. */
  stop(timeoutMs: number): Promise<void>;
};

type Exit = { code: number | null; reason: string };

/** A process that is restarted whenever it exits. */
export type RestartedProcess = { stop(timeoutMs: number): Promise<void> };

type KeepRunningOptions = {
  name: string;
  start: () => Promise<ChildRun>;
  logger: Logger;
  /** Called when the process exits because of its configuration: a restart would not help. */
  onConfigurationError: () => void;
  firstDelayMs?: number;
};

const maxDelayMs = 30_000;
/** After a run this long the next exit is treated as the first. */
const stableAfterMs = 60_000;

/** Starts a process and restarts it with exponential backoff. Throws when the first start fails. */
export async function keepRunning(options: KeepRunningOptions): Promise<RestartedProcess> {
  const { name, start, logger, onConfigurationError, firstDelayMs = 500 } = options;
  const stopping = new AbortController();
  let run = await start();

  const restart = async (delayMs: number): Promise<ChildRun> => {
    await delay(delayMs, undefined, { signal: stopping.signal });
    const next = await start().catch((error: unknown) => failedRun(String(error)));
    if (stopping.signal.aborted) await next.stop(1_000);
    return next;
  };
  const restartOnExit = async () => {
    let delayMs = firstDelayMs;
    for (;;) {
      const startedAt = Date.now();
      const { code, reason } = await run.exited;
      if (stopping.signal.aborted) return;
      if (code === configurationExitCode) return onConfigurationError();
      if (Date.now() - startedAt > stableAfterMs) delayMs = firstDelayMs;
      logger.error({ process: name, reason, restartInMs: delayMs }, "process exited");
      run = await restart(delayMs);
      delayMs = Math.min(delayMs * 2, maxDelayMs);
    }
  };
  const restarting = restartOnExit().catch((error: unknown) => {
    if (!stopping.signal.aborted) throw error;
  });

  return {
    async stop(timeoutMs) {
      stopping.abort();
      await run.stop(timeoutMs);
      await restarting;
    },
  };
}

const failedRun = (reason: string): ChildRun => ({
  exited: Promise.resolve({ code: null, reason }),
  stop: async () => {},
});

/** Ends child processes when this process exits, however it exits. */
export type OrphanGuard = {
  /** When this process exits, `pid` gets the signal, and its group is killed 8 s later. */
  add(pid: number, signal: "SIGINT" | "SIGTERM"): void;
  remove(pid: number): void;
  /** Kills every process added, without an orderly stop. */
  killAll(): void;
};

/** Reads `add <pid> <signal>`, `remove <pid>` and `kill`. Its input closes when the parent process exits. */
const script = `
guarded=
kill_all() {
  for one in $guarded; do
    # SIGQUIT makes PostgreSQL exit at once; it recovers at its next start.
    if [ "\${one#*:}" = INT ]; then kill -s QUIT "\${one%:*}"; else kill -s KILL -- "-\${one%:*}"; fi
  done
}
while read -r verb pid name; do
  [ "$verb" = kill ] && kill_all && exit 0
  others=
  for one in $guarded; do [ "\${one%:*}" = "$pid" ] || others="$others $one"; done
  guarded=$others
  [ "$verb" = add ] && guarded="$guarded $pid:$name"
done
[ -n "$guarded" ] || exit 0
for one in $guarded; do kill -s "\${one#*:}" "\${one%:*}"; done
tries=0
while [ $tries -lt 80 ]; do
  alive=
  for one in $guarded; do kill -0 "\${one%:*}" && alive=yes; done
  [ -z "$alive" ] && break
  sleep 0.1
  tries=$((tries + 1))
done
kill_all
`;

/** Starts the guard: a shell in its own session, which neither Ctrl-C nor the exit of this process ends. */
export function startOrphanGuard(): OrphanGuard {
  const shell = spawn("/bin/sh", ["-c", script, "orphan-guard"], {
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
    env: { PATH: "/usr/bin:/bin" },
  });
  const input = shell.stdin as Writable & { unref(): void };
  input.on("error", () => {});
  shell.on("error", () => {});
  shell.unref();
  input.unref();
  return {
    add: (pid, signal) => void input.write(`add ${pid} ${signal.slice(3)}\n`),
    remove: (pid) => void input.write(`remove ${pid}\n`),
    killAll: () => void input.write("kill\n"),
  };
}

const niceness = 5;

/**
 * A process that yields the processors to the others: at niceness 5 it gets a third of what one of them gets, when all
 * want more than there is. Linux may schedule sessions as groups ("autogroup", sched(7)): then only the group's own
 * niceness counts.
 */
export function lowerPriority(pid: number): void {
  for (const lower of [
    () => setPriority(pid, Math.max(getPriority(pid), niceness)),
    () => writeFileSync(`/proc/${pid}/autogroup`, `${niceness}`),
  ]) {
    try {
      lower();
    } catch {
      // It may have ended, or the system knows no such groups: then it works like the others.
    }
  }
}
