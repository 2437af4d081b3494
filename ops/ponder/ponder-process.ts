import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Writable } from "node:stream";
import type { Logger } from "pino";
import type { Database } from "#projections/log/database.ts";
import type { IndexerSettings } from "#src/settings.ts";
import type { ChainConfig } from "../config/config.ts";
import { readEnvironment } from "../config/read-config.ts";
import { ponderDirectory, projectRoot } from "../programs.ts";
import type { ServedReader } from "../reader/serve-ponder.ts";
import { type IndexedSources, sourceFilters } from "./indexed-sources.ts";

type PonderProcess = {
  pid: number | undefined;
  /** Resolves with the exit code or signal. */
  exited: Promise<string>;
  /** Stops it in order, and kills it after a timeout. */
  stop(): Promise<void>;
  kill(): void;
};

/** The variables that Ponder inherits. Others, such as `PORT`, mean something else to it. */
const inheritedVariables = [
  "PATH",
  "HOME",
  "TZ",
  "NODE_OPTIONS",
  "NODE_COMPILE_CACHE",
  "NODE_EXTRA_CA_CERTS",
  "SSL_CERT_FILE",
];
const stopTimeoutMs = 4_000;
/** Ponder's command line as it is published. */
const program = join(ponderDirectory, "dist/esm/bin/ponder.js");
/** The heap may grow by so much between two collections: half the memory, for some 6 % of its processor time. */
const flags = ["--heap-growing-percent=50"];
const tuning = {
  // Rows kept for later reads, up to a fifth of the heap's limit. Our handlers read none.
  PONDER_CACHE_BYTES: "0",
  // glibc has up to eight arenas for each processor otherwise, each with free memory of its own (mallopt(3)).
  MALLOC_ARENA_MAX: "2",
};

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
  settings: IndexerSettings;
  onLine: (line: string) => void;
  /** At the lowest priority, in a session of its own. */
  isBackground?: boolean;
};

/** Starts Ponder on a schema. */
export function startPonder(start: PonderStart): PonderProcess {
  const { schema, port, settings, onLine, isBackground = false } = start;
  const command = [
    // Without the first flag it logs a deprecation warning of its database driver at every start.
    ...[process.execPath, "--no-deprecation", ...flags, program],
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
  const settingsFile = openSettings(settings);
  const child = spawn("/bin/sh", shell, {
    cwd: projectRoot,
    detached: isBackground,
    env: { ...environment(), ...tuning },
    stdio: ["ignore", "pipe", "pipe", "pipe", settingsFile],
  });
  closeSync(settingsFile);
  for (const stream of [child.stdout, child.stderr]) {
    if (stream !== null) createInterface({ input: stream }).on("line", onLine);
  }
  const exited = exitOf(child);
  return {
    pid: child.pid,
    exited,
    kill: () => void child.kill("SIGKILL"),
    async stop() {
      const killTimer = setTimeout(() => child.kill("SIGKILL"), stopTimeoutMs);
      // SIGTERM would end its bundler before Ponder has released its lock of the schema.
      child.kill("SIGINT");
      await exited;
      clearTimeout(killTimer);
    },
  };
}

/**
 * A file that is open and has no name any more: it holds the database's password, and thousands of addresses, for which a
 * variable is too short.
 */
function openSettings(settings: IndexerSettings): number {
  const directory = mkdtempSync(join(tmpdir(), "ponder-"));
  const file = openSync(join(directory, "settings"), "wx+", 0o600);
  rmSync(directory, { recursive: true });
  writeSync(file, JSON.stringify(settings));
  return file;
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

/** Times that the reader is listed: Ponder allows each address 20 requests a second to begin with, and the reader none. */
const lanes = 16;

/** Settings of a Ponder process, which `src/settings.ts` reads. */
export function ponderSettings(
  { sources, databaseUrl }: Pick<IndexingContext, "databaseUrl"> & { sources: IndexedSources },
  served: ServedReader,
): IndexerSettings {
  const filters = sourceFilters(sources.sources).map(({ addresses, topics }) => ({
    ...{ address: addresses ?? undefined, topics },
  }));
  const { rpcUrl, wsUrl } = served.addressFor(filters);
  return {
    databaseUrl,
    chainId: sources.chainId,
    rpcUrls: Array.from({ length: lanes }, () => rpcUrl),
    wsUrl,
    sources: sources.sources,
  };
}

/** Passed to everything that runs an indexer of a chain. */
export type IndexingContext = {
  chain: ChainConfig;
  /** Its name; the chain's indexers differ in it. */
  indexer: string;
  /** What it is to index now. */
  readSources: () => Promise<IndexedSources>;
  databaseUrl: string;
  db: Database;
  logger: Logger;
  signal: AbortSignal;
};

/** URLs that may contain keys; they are masked in Ponder's log lines. */
export function secretsOf({ chain, databaseUrl }: Pick<IndexingContext, "chain" | "databaseUrl">) {
  return [databaseUrl, ...chain.rpcUrls, ...(chain.wsUrl === null ? [] : [chain.wsUrl])];
}
