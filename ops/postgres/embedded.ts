import { type ChildProcess, spawn } from "node:child_process";
import { realpathSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { totalmem } from "node:os";
import { join } from "node:path";
import pg from "pg";
import type { Logger } from "pino";
import { findFreePort, isFree } from "../free-port.ts";
import {
  clusterPaths,
  directoryArgument,
  ensureCluster,
  locateBinaries,
  openServerLog,
  readPidFile,
  serverUser,
  stopProcessesIn,
} from "./cluster.ts";
import { lockDirectory, waitUntil } from "./live-processes.ts";

export type EmbeddedPostgres = {
  url: string;
  port: number;
  pid: number;
  /** Resolves with the exit code or signal when the server has exited. */
  exited: Promise<string>;
  /** Fast shutdown: open transactions are rolled back. */
  stop(timeoutMs?: number): Promise<void>;
};

type EmbeddedPostgresOptions = {
  dataDir: string;
  logger: Logger;
  /** When absent the one that `dataDir` keeps: a free one at the first start. */
  port?: number;
  /** Called once no other process may use `dataDir`, before the server starts. */
  onLocked?: () => void;
  /** Called with the id of the server's process before it is ready. */
  onSpawn?: (pid: number) => void;
  /** False for tests: a crash of the machine may lose data. */
  durable?: boolean;
  /** Whether standbys on this machine may follow it. */
  replicates?: boolean;
  /** Further settings of the server, over ours. */
  settings?: Readonly<Record<string, string>>;
  /** Ends a start that is not complete: the server is shut down. */
  signal?: AbortSignal;
};

/** Recovery after a crash takes as long as there is to recover; begun anew it would never end. */
const progressEveryMs = 10_000;
const fastShutdownMs = 7_000;

/** Runs PostgreSQL on the loopback address, its data in `dataDir`; deleting that directory resets it. */
export async function startPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  await mkdir(options.dataDir, { recursive: true });
  const paths = clusterPaths(realpathSync(options.dataDir));
  const release = lockDirectory(paths.owner);
  try {
    options.onLocked?.();
    const { durable = true } = options;
    const user = await serverUser(paths);
    const binaries = await locateBinaries(user !== undefined);
    await ensureCluster(paths, binaries, user, durable);
    if (await stopProcessesIn(paths.cluster)) {
      options.logger.warn("leftover PostgreSQL server stopped");
    }
    const port = await choosePort(paths.port, options);
    const log = await openServerLog(paths);
    const child = spawn(
      join(binaries.directory, "bin", "postgres"),
      ["-D", directoryArgument(paths.cluster), ...settings(port, options)],
      {
        ...user,
        cwd: paths.cluster,
        // Its own process group: Ctrl-C reaches only the supervisor, which stops the server last.
        detached: true,
        env: { PATH: "/usr/bin:/bin", TZ: "UTC" },
        stdio: ["ignore", log.fd, log.fd],
      },
    );
    const exited = exitOf(child);
    void exited.then(release);
    await log.close();
    if (child.pid !== undefined) options.onSpawn?.(child.pid);
    const isReady = () => isReadyIn(paths.cluster, child);
    await untilReady({ ...options, child, exited, isReady, logFile: paths.log });
    const url = await urlOf(paths.password, port);
    if (durable) await countStatements(url);
    return {
      url,
      port,
      pid: child.pid ?? 0,
      exited,
      stop: (timeoutMs = fastShutdownMs) => stopServer(child, exited, timeoutMs),
    };
  } catch (error) {
    release();
    throw error;
  }
}

/** Something else listens on the port that was asked for. */
export class PortInUseError extends Error {}

/** The same at every start, so that what analysts have stored goes on to work; another one where that is taken. */
async function choosePort(
  file: string,
  { port, logger }: Pick<EmbeddedPostgresOptions, "port" | "logger">,
): Promise<number> {
  if (port !== undefined) {
    if (await isFree("127.0.0.1", port)) return port;
    throw new PortInUseError(`port ${port} is taken`);
  }
  const kept = Number(await readFile(file, "utf8").catch(() => "")) || 0;
  const chosen = await findFreePort("127.0.0.1", kept);
  if (kept !== 0 && chosen !== kept)
    logger.warn({ kept, port: chosen }, "port of PostgreSQL taken");
  if (chosen !== kept) await writeFile(file, `${chosen}\n`);
  return chosen;
}

async function urlOf(passwordFile: string, port: number): Promise<string> {
  const password = await readFile(passwordFile, "utf8");
  return `postgres://postgres:${password}@127.0.0.1:${port}/postgres`;
}

async function countStatements(connectionString: string): Promise<void> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    await client.query("create extension if not exists pg_stat_statements");
  } finally {
    await client.end();
  }
}

/** Memory of the machine or the container, in bytes. */
const availableMemory = () => Math.min(totalmem(), process.constrainedMemory() || totalmem());

/**
 * pg_prewarm saves the list of cached pages every five minutes and loads them at the start: lists are fast after a restart.
 * pg_stat_statements counts what the console shows of statements.
 */
const durableSettings = { shared_preload_libraries: "pg_prewarm, pg_stat_statements" };
const temporarySettings = { fsync: "off", full_page_writes: "off", synchronous_commit: "off" };

/**
 * Without a standby, tables built in one transaction need no write-ahead log: an index of a rebuild takes a third of the
 * time.
 */
const unreplicatedSettings = { wal_level: "minimal", max_wal_senders: "0" };
/** A standby that was away for a while still finds what it missed. */
const primarySettings = { wal_level: "replica", max_wal_senders: "10", wal_keep_size: "1GB" };

/** A quarter of the memory is shared buffers: an order book that does not fit costs one copy per page. */
function settings(
  port: number,
  { durable = true, replicates = false, settings = {} }: EmbeddedPostgresOptions,
): string[] {
  const sharedMb = Math.min(durable ? 4096 : 128, Math.floor(availableMemory() / 4 / 2 ** 20));
  const values: Record<string, string> = {
    listen_addresses: "127.0.0.1",
    port: `${port}`,
    unix_socket_directories: "",
    // A service of all roles takes up to 100, beside commands of the operator and indexers of added sources.
    max_connections: "200",
    shared_buffers: `${sharedMb}MB`,
    effective_cache_size: `${sharedMb * 3}MB`,
    work_mem: "32MB",
    maintenance_work_mem: "256MB",
    max_wal_size: "4GB",
    min_wal_size: "256MB",
    ...(replicates ? primarySettings : unreplicatedSettings),
    wal_compression: "off",
    checkpoint_timeout: "15min",
    // Tables grow from empty within seconds; autovacuum analyzes them soon, so that plans for empty tables are replaced.
    autovacuum_naptime: "5s",
    random_page_cost: "1.1",
    jit: "off",
    log_line_prefix: "%m [%p] %a ",
    log_checkpoints: "off",
    ...(durable ? durableSettings : temporarySettings),
    ...settings,
  };
  return Object.entries(values).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
}

function exitOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.once("error", (error) => resolve(error.message));
    child.once("exit", (code, signal) => resolve(signal ?? `exit ${code}`));
  });
}

const hasExited = (child: ChildProcess) => child.exitCode !== null || child.signalCode !== null;

function isReadyIn(cluster: string, child: ChildProcess): boolean {
  const server = readPidFile(cluster);
  return server?.pid === child.pid && server?.isReady === true;
}

type Starting = Pick<EmbeddedPostgresOptions, "logger" | "signal"> & {
  child: ChildProcess;
  exited: Promise<string>;
  isReady: () => boolean;
  logFile: string;
};

/** Waits for as long as the server lives. When this throws it has ended. */
async function untilReady({ child, exited, isReady, logFile, logger, signal }: Starting) {
  const startedAt = performance.now();
  const isDecided = () =>
    child.pid === undefined || hasExited(child) || isReady() || signal?.aborted === true;
  while (!(await waitUntil(isDecided, progressEveryMs))) {
    const seconds = Math.round((performance.now() - startedAt) / 1_000);
    logger.warn({ seconds }, "waiting for PostgreSQL, which is starting or recovers from a crash");
  }
  if (signal?.aborted) await stopServer(child, exited, fastShutdownMs);
  signal?.throwIfAborted();
  if (isReady()) return;
  const end = await exited;
  const logTail = (await readFile(logFile, "utf8")).trim().split("\n").slice(-6).join("\n");
  throw new Error(`PostgreSQL did not start (${end}). ${logFile} ends with:\n${logTail}`);
}

/** What is written beside the end of the roles needs not be written by the shutdown after it. Never rejects. */
export async function writeCheckpoint(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, application_name: "checkpoint" });
  client.on("error", () => {});
  try {
    await client.connect();
    await client.query("checkpoint");
    await client.end();
  } catch {
    // The server has ended, and has written all.
  }
}

async function stopServer(
  child: ChildProcess,
  exited: Promise<string>,
  timeoutMs: number,
): Promise<void> {
  if (!hasExited(child)) child.kill("SIGINT");
  if (await waitUntil(() => hasExited(child), timeoutMs)) return;
  child.kill("SIGQUIT");
  await exited;
}
