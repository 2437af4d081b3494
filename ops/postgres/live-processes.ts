import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";

const onLinux = process.platform === "linux";

/** Start time of a process, as the system reports it; with the id it identifies a process. Undefined when it has exited. */
export function startTimeOf(pid: number): string | undefined {
  if (onLinux) return readStat(`${pid}`)?.startTime;
  return ps(pid, "lstart") || undefined;
}

/**
 * Whether a process group has a member that has not exited. One that has is a member until its parent takes its exit
 * code: for an orphan that is the machine's first process, which may let seconds pass.
 */
export function hasRunningMember(group: number): boolean {
  if (!onLinux) return isSignalled(group);
  return processIds().some((pid) => readStat(pid)?.group === `${group}`);
}

function isSignalled(group: number): boolean {
  try {
    return process.kill(-group, 0);
  } catch {
    return false;
  }
}

/** From proc(5). Undefined when the process has exited. */
function readStat(pid: string): { group: string; startTime: string } | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The command name may contain spaces and brackets; the fields after it do not.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const [state, , group = ""] = fields;
    return state === "Z" ? undefined : { group, startTime: fields[19] ?? "" };
  } catch {
    return undefined;
  }
}

const processIds = () => readdirSync("/proc").filter((name) => /^\d+$/.test(name));

/**
 * Processes of a database server in a directory: their working directory is that directory. Without /proc only the
 * server's main process is found, by its id in the directory.
 */
export function processesIn(directory: string, mainPid: number | undefined): number[] {
  if (!onLinux) {
    return mainPid !== undefined && ps(mainPid, "comm").includes("postgres") ? [mainPid] : [];
  }
  return processIds()
    .filter((pid) => hasWorkingDirectory(pid, directory))
    .map(Number)
    .filter((pid) => startTimeOf(pid) !== undefined);
}

function hasWorkingDirectory(pid: string, directory: string): boolean {
  try {
    return readlinkSync(`/proc/${pid}/cwd`) === directory;
  } catch {
    // It has exited, or belongs to another user.
    return false;
  }
}

function ps(pid: number, column: string): string {
  try {
    return execFileSync("ps", ["-p", `${pid}`, "-o", `${column}=`], { encoding: "utf8" }).trim();
  } catch {
    return "";
  }
}

/** Sends a signal; a process that has exited is not an error. */
export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}

/** Polls until the condition is true or the time is over. Returns whether it became true. */
export async function waitUntil(condition: () => boolean, timeoutMs: number): Promise<boolean> {
  const deadline = Date.now() + timeoutMs;
  while (!condition()) {
    if (Date.now() > deadline) return false;
    await delay(20);
  }
  return true;
}

/** A process id and its start time: a later process with the same id is not mistaken for it. */
export type ProcessIdentity = { pid: number; startTime: string | undefined };

export const thisProcess = (): ProcessIdentity => ({
  pid: process.pid,
  startTime: startTimeOf(process.pid),
});
export const isAlive = ({ pid, startTime }: ProcessIdentity): boolean =>
  startTime !== undefined && startTimeOf(pid) === startTime;

/** Another running process has locked the directory. */
export class DirectoryInUseError extends Error {}

/**
 * Locks a directory for this process until the returned function is called or the process exits. The file names the
 * process by id and start time, so that the file of a killed process does not lock anything.
 */
export function lockDirectory(file: string): () => void {
  const identity = JSON.stringify(thisProcess());
  for (let attempt = 1; ; attempt += 1) {
    try {
      writeFileSync(file, identity, { flag: "wx", mode: 0o600 });
      return releaseOnce(file);
    } catch (error) {
      const owner = readOwner(file);
      if (owner !== undefined) {
        throw new DirectoryInUseError(`the directory is in use by process ${owner.pid}`, {
          cause: error,
        });
      }
      if (attempt === 3) throw error;
      rmSync(file, { force: true });
    }
  }
}

/** Called again it must not remove the file of a later lock. */
function releaseOnce(file: string): () => void {
  let isReleased = false;
  return () => {
    if (!isReleased) rmSync(file, { force: true });
    isReleased = true;
  };
}

/** The running process that has locked the directory. */
function readOwner(file: string): ProcessIdentity | undefined {
  try {
    const owner = JSON.parse(readFileSync(file, "utf8")) as ProcessIdentity;
    return isAlive(owner) ? owner : undefined;
  } catch {
    return undefined;
  }
}
