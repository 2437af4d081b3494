import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Writable } from "node:stream";
import { pathToFileURL } from "node:url";
import { readEnvironment } from "../config/read-config.ts";
import { projectRoot } from "../programs/installed-paths.ts";
import { launch } from "../programs/program.ts";

export type PonderProcess = {
  pid: number | undefined;
  /** Resolves with the exit code or signal. */
  exited: Promise<string>;
  /** Stops it in order, and kills it after a timeout. */
  stop(): Promise<void>;
  kill(): void;
  /** It does not run until `resume`. */
  pause(): void;
  resume(): void;
};

/** The variables that Ponder inherits. Others, such as `PORT`, mean something else to it. */
const inheritedVariables = [
  "PATH",
  "HOME",
  "TZ",
  "NODE_OPTIONS",
  "NODE_EXTRA_CA_CERTS",
  "SSL_CERT_FILE",
];
const stopTimeoutMs = 4_000;
/** Flags of Node, the program with its first arguments, and settings of Ponder. */
export type PonderTuning = {
  flags: readonly string[];
  program: readonly string[];
  settings: Record<string, string>;
};
const modules = pathToFileURL(join(projectRoot, "api/run/indexer/"));
/** Its JSON-RPC calls by `node:http`. */
export const callsByHttp = ["--import", new URL("ponder-fetch.mjs", modules).href];
/** No temporary table with each block. */
const withoutLiveQueries = ["--import", new URL("ponder-live-query.mjs", modules).href];
const tuned: PonderTuning = {
  // The heap may grow by so much between two collections: half the memory, for some 6 % of its processor time.
  flags: ["--heap-growing-percent=50", ...callsByHttp, ...withoutLiveQueries],
  program: launch("ponder"),
  settings: {
    // Rows kept for later reads, up to a fifth of the heap's limit. Our handlers read none.
    PONDER_CACHE_BYTES: "0",
    // glibc has up to eight arenas for each processor otherwise, each with free memory of its own (mallopt(3)).
    MALLOC_ARENA_MAX: "2",
  },
};
export const preload = new URL("ponder-preload.mjs", modules).href;

/**
 * The shell becomes Ponder. A second shell waits on a pipe that only this process holds, and kills Ponder when the pipe
 * closes: Ponder must not continue without the schema lock.
 */
const killOnDisconnect = '(read -r _ <&3 || kill -KILL "$$") >/dev/null 2>&1 & exec "$@" 3<&-';
/**
 * From before its first thread. Linux may schedule sessions as groups ("autogroup", sched(7)): then a nice value counts
 * within a session alone, and what a session yields to others is its group's own value.
 */
const atLowPriority = `(echo 19 >/proc/$$/autogroup) 2>/dev/null; exec nice -n 19 /bin/sh -c "$0" sh "$@"`;

type PonderStart = {
  schema: string;
  /** Of its own HTTP server, on loopback, which only its metrics are read from; it takes the next one if that is taken. */
  port: number;
  /** Of any length: it reads them like variables (`ponder-preload.mjs`). */
  settings: Record<string, string>;
  onLine: (line: string) => void;
  /** At the lowest priority, in a session of its own. */
  isBackground?: boolean;
  tuning?: PonderTuning;
};

/** Starts Ponder on a schema. */
export function startPonder(start: PonderStart): PonderProcess {
  const { schema, port, settings, onLine, isBackground = false, tuning = tuned } = start;
  const command = [
    // Without the first flag it logs a deprecation warning of its database driver at every start.
    ...[process.execPath, "--no-deprecation", ...tuning.flags, "--import", preload],
    ...tuning.program,
    ...[
      "start",
      "--root",
      projectRoot,
      "--schema",
      schema,
      "--log-format",
      "json",
      "--log-level",
      "info",
    ],
    ...["--hostname", "127.0.0.1", "--port", `${port}`],
  ];
  const shell = isBackground
    ? ["-c", atLowPriority, killOnDisconnect, ...command]
    : ["-c", killOnDisconnect, "sh", ...command];
  const child = spawn("/bin/sh", shell, {
    cwd: projectRoot,
    detached: isBackground,
    env: { ...environment(), ...tuning.settings },
    stdio: ["pipe", "pipe", "pipe", "pipe"],
  });
  // It may end before it has read them.
  child.stdin?.on("error", () => {});
  child.stdin?.end(JSON.stringify(settings));
  for (const stream of [child.stdout, child.stderr]) {
    if (stream !== null) createInterface({ input: stream }).on("line", onLine);
  }
  const exited = exitOf(child);
  let isStopping = false;
  return {
    pid: child.pid,
    exited,
    kill: () => void child.kill("SIGKILL"),
    pause: () => void (isStopping || child.kill("SIGSTOP")),
    resume: () => void child.kill("SIGCONT"),
    async stop() {
      isStopping = true;
      child.kill("SIGCONT");
      const killTimer = setTimeout(() => child.kill("SIGKILL"), stopTimeoutMs);
      // SIGTERM would end its bundler before Ponder has released its lock of the schema.
      child.kill("SIGINT");
      await exited;
      clearTimeout(killTimer);
    },
  };
}

function environment(): Record<string, string | undefined> {
  const own = readEnvironment();
  return {
    ...Object.fromEntries(inheritedVariables.map((name) => [name, own[name]])),
    PONDER_TELEMETRY_DISABLED: "1",
    // The schema's name identifies its content; Ponder's own check depends on the order of files in a directory.
    PONDER_EXPERIMENTAL_DB: "platform",
  };
}

function exitOf(child: ChildProcess): Promise<string> {
  const pipe = child.stdio[3] as Writable;
  pipe.on("error", () => {});
  return new Promise((settle) => {
    child.once("error", (error) => settle(error.message));
    child.once("exit", (code, signal) => {
      pipe.end("gone\n");
      settle(signal ?? `exit ${code}`);
    });
  });
}
