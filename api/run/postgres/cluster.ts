import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { chmod, chown, mkdir, open, readFile, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { type Binaries, isOpenToAll } from "./binaries.ts";
import { processesIn, signal, waitUntil } from "./processes.ts";

/** Who the server runs as: PostgreSQL refuses root. Absent where this process is no root. */
export type ServerUser = { uid: number; gid: number };

const nobody: ServerUser = { uid: 65534, gid: 65534 };
const minimalEnvironment = { PATH: "/usr/bin:/bin", TZ: "UTC" };

/** What `DATA_DIR` holds of the server. */
export function clusterPaths(dataDir: string) {
  return {
    cluster: join(dataDir, "postgres"),
    unfinished: join(dataDir, "postgres.new"),
    password: join(dataDir, "postgres.password"),
    log: join(dataDir, "postgres.log"),
    owner: join(dataDir, "postgres.owner"),
  };
}

type Paths = ReturnType<typeof clusterPaths>;

/** Root lends the server the existing cluster's owner, or nobody. */
export async function serverUser({ cluster }: Paths): Promise<ServerUser | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  if (!existsSync(cluster)) return nobody;
  const { uid, gid } = await stat(cluster);
  return uid === 0 ? nobody : { uid, gid };
}

/**
 * How the server is told its directory. Started inside it, it needs no right to walk there: so an
 * unprivileged server can work below a folder that only root may enter.
 */
export function directoryArgument(directory: string): string {
  const canWalk = process.getuid?.() !== 0 || isOpenToAll(join(directory, ".."));
  return canWalk ? directory : "/proc/self/cwd";
}

/** Makes the cluster unless there is one. A start that was cut off leaves nothing that counts as one. */
export async function ensureCluster(
  paths: Paths,
  binaries: Binaries,
  user: ServerUser | undefined,
  durable: boolean,
): Promise<void> {
  if (existsSync(paths.cluster)) return assertVersion(paths.cluster, binaries);
  await stopProcessesIn(paths.unfinished);
  await rm(paths.unfinished, { recursive: true, force: true });
  await mkdir(paths.unfinished, { mode: 0o700 });
  await rm(paths.password, { force: true });
  const password = await open(paths.password, "wx+", 0o600);
  try {
    await password.writeFile(randomBytes(24).toString("hex"));
    if (user !== undefined) {
      await password.chown(user.uid, user.gid);
      await chown(paths.unfinished, user.uid, user.gid);
    }
    await runInitdb(paths.unfinished, binaries, user, [password.fd, durable]);
  } finally {
    await password.close();
  }
  await rename(paths.unfinished, paths.cluster);
}

async function runInitdb(
  directory: string,
  binaries: Binaries,
  user: ServerUser | undefined,
  [passwordFd, durable]: [number, boolean],
): Promise<void> {
  const child = spawn(
    join(binaries.directory, "bin", "initdb"),
    [
      ...["-D", directoryArgument(directory), "-U", "postgres", "--no-locale", "-E", "UTF8"],
      ...["-A", "scram-sha-256", "--pwfile=/dev/fd/3", ...(durable ? [] : ["--no-sync"])],
    ],
    {
      ...user,
      cwd: directory,
      env: minimalEnvironment,
      stdio: ["ignore", "ignore", "pipe", passwordFd],
    },
  );
  const exited = new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", resolve);
  });
  const [complaint, code] = await Promise.all([child.stderr ? text(child.stderr) : "", exited]);
  if (code !== 0) throw new Error(`PostgreSQL could not make ${directory}: ${complaint.trim()}`);
}

async function assertVersion(cluster: string, { major }: Binaries): Promise<void> {
  const made = (await readFile(join(cluster, "PG_VERSION"), "utf8")).trim();
  if (made === major) return;
  throw new Error(
    `${cluster} was made by PostgreSQL ${made}; this version carries ${major}. ` +
      "Dump it with the old one and restore, or delete it: what the chains hold is indexed anew",
  );
}

/** Ends a server that an earlier run left behind, and whatever still works in its directory. */
export async function stopProcessesIn(directory: string): Promise<boolean> {
  const pidFile = join(directory, "postmaster.pid");
  const mainPid = readPidFile(directory)?.pid;
  const remaining = () => processesIn(directory, mainPid);
  if (remaining().length === 0) {
    // The system may have given the noted id to a stranger, for whom the server would wait in vain.
    await rm(pidFile, { force: true });
    return false;
  }
  if (mainPid !== undefined && remaining().includes(mainPid)) signal(mainPid, "SIGINT");
  if (!(await waitUntil(() => remaining().length === 0, 10_000))) {
    for (const pid of remaining()) signal(pid, "SIGKILL");
    await waitUntil(() => remaining().length === 0, 5_000);
  }
  await rm(pidFile, { force: true });
  return true;
}

/** What a running server notes in its directory. */
export function readPidFile(directory: string) {
  try {
    const lines = readFileSync(join(directory, "postmaster.pid"), "utf8").split("\n");
    return {
      pid: Number(lines[0]),
      port: Number(lines[3]),
      isReady: lines[7]?.trim() === "ready",
    };
  } catch {
    return undefined;
  }
}

/** A log that stays small: the last one is kept beside it. */
export async function openServerLog({ log }: Paths) {
  const size = await stat(log).then(
    (stats) => stats.size,
    () => 0,
  );
  if (size > 10_000_000) await rename(log, `${log}.1`);
  const file = await open(log, "a", 0o600);
  await chmod(log, 0o600);
  return file;
}
