import { readdirSync, readFileSync } from "node:fs";

type ProcessMemory = { pid: number; parent: number; bytes: number };

/** Bytes of memory of a process and all that it started; null where the system has no /proc. */
export function readMemory(pids: readonly number[]): Map<number, number | null> {
  if (process.platform !== "linux") return new Map(pids.map((pid) => [pid, null]));
  const all = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => readProcess(Number(name)));
  const bytesOf = (pid: number): number =>
    all.reduce(
      (sum, one) =>
        sum + (one.pid === pid ? one.bytes : 0) + (one.parent === pid ? bytesOf(one.pid) : 0),
      0,
    );
  return new Map(pids.map((pid) => [pid, bytesOf(pid)]));
}

function readProcess(pid: number): ProcessMemory[] {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    const field = (name: string) =>
      Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(status)?.[1] ?? 0);
    return [{ pid, parent: field("PPid"), bytes: field("VmRSS") * 1_024 }];
  } catch {
    // It has exited.
    return [];
  }
}
