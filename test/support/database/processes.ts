import { readdirSync, readFileSync } from "node:fs";
import { startTimeOf } from "#ops/postgres/live-processes.ts";

type Process = { pid: number; command: string };

/** What a process has started, by `/proc`. */
export function childrenOf(parent: number): Process[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && parentOf(name) === parent)
    .map((name) => ({ pid: Number(name), command: read(name, "cmdline").replaceAll("\0", " ") }));
}

/** What a process has started, and what that has started. */
export function descendantsOf(ancestor: number): Process[] {
  return childrenOf(ancestor).flatMap((child) => [child, ...descendantsOf(child.pid)]);
}

/** Says later which of these processes are still there; another one with the same id is not. */
export function watchProcesses(processes: readonly Process[]): () => Process[] {
  const births = new Map(processes.map(({ pid }) => [pid, startTimeOf(pid)]));
  return () =>
    processes.filter(({ pid }) => {
      const birth = startTimeOf(pid);
      return birth !== undefined && birth === births.get(pid);
    });
}

function parentOf(pid: string): number {
  const stat = read(pid, "stat");
  return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
}

function read(pid: string, file: "stat" | "cmdline"): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return "";
  }
}
