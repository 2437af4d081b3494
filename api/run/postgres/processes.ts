import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
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
