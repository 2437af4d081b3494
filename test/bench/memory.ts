import { readFile } from "node:fs/promises";
import { descendantsOf } from "../support/database/processes.ts";

export type MemoryMeter = {
  /** Ends it. The most megabytes that were seen. */
  stop(): Promise<number>;
};

const everyMs = 2_000;

/**
 * The memory of this process and all that it has started, but for one process and what that has started: each page counts
 * once, however many processes share it ("Pss", proc_pid_smaps_rollup(5)).
 */
export function measureMemory(except: number): MemoryMeter {
  let most = 0;
  let look = Promise.resolve();
  const timer = setInterval(() => {
    look = look.then(async () => {
      most = Math.max(most, await memoryOf(process.pid, [except]));
    });
  }, everyMs);
  return {
    async stop() {
      clearInterval(timer);
      await look;
      return most;
    },
  };
}

/** Megabytes of a process and what it has started, but for some processes and what those have started. */
export async function memoryOf(ancestor: number, except: readonly number[]): Promise<number> {
  const others = new Set(
    except.flatMap((pid) => [pid, ...descendantsOf(pid).map((started) => started.pid)]),
  );
  const all = [ancestor, ...descendantsOf(ancestor).map(({ pid }) => pid)];
  const own = all.filter((pid) => !others.has(pid));
  const sizes = await Promise.all(own.map(kilobytesOf));
  return Math.round(sizes.reduce((sum, size) => sum + size, 0) / 1_024);
}

async function kilobytesOf(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/smaps_rollup`, "utf8").catch(() => "");
  return Number(/^Pss:\s+(\d+)/m.exec(text)?.[1] ?? 0);
}
