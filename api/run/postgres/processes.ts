import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";

const onLinux = process.platform === "linux";

/** Start time of a process, as the system reports it; with the id it identifies a process. Undefined when it has exited. */
export function startTimeOf(pid: number): string | undefined {
  try {
    if (!onLinux) return ps(pid, "lstart") || undefined;
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The command name may contain spaces and brackets; the fields after it do not.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return fields[0] === "Z" ? undefined : fields[19];
  } catch {
    return undefined;
  }
}

/**
 * Processes of a database server in a directory: their working directory is that directory. Without /proc only the
 * server's main process is found, by its id in the directory.
 */
export function processesIn(directory: string, mainPid: number | undefined): number[] {
  if (!onLinux) {
    return mainPid !== undefined && ps(mainPid, "comm").includes("postgres") ? [mainPid] : [];
  }
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
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
