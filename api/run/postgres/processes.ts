import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";

const onLinux = process.platform === "linux";

/** When a process was born, in the system's own words: with its id, a name that is not given twice. */
export function startTimeOf(pid: number): string | undefined {
  try {
    if (!onLinux) return ps(pid, "lstart") || undefined;
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The command's name may hold spaces and brackets; the fields behind it do not.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return fields[0] === "Z" ? undefined : fields[19];
  } catch {
    return undefined;
  }
}

/**
 * Processes of a database server working in a directory: every one of them stays in it from its
 * start. Without /proc the server's main process alone is found, by what it left in the directory.
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
    // It ended, or belongs to somebody else.
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

/** Sends a signal; a process that is gone is no fault. */
export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}

/** Asks again until the answer is yes or the time is over; says which. */
export async function waitUntil(condition: () => boolean, timeoutMs: number): Promise<boolean> {
  const deadline = Date.now() + timeoutMs;
  while (!condition()) {
    if (Date.now() > deadline) return false;
    await delay(20);
  }
  return true;
}
