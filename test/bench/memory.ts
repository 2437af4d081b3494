import { readFile } from "node:fs/promises";
import { descendantsOf } from "../support/database/processes.ts";

/** Megabytes; `shared`: what processes share on purpose, such as PostgreSQL's buffers, is a part of `all`. */
export type Memory = { all: number; shared: number };

export type MemoryMeter = {
  /** The most that was seen so far. */
  most(): Memory;
  /** Ends it. The most that was seen. */
  stop(): Promise<Memory>;
};

const everyMs = 2_000;

/**
 * The memory of this process and all that it has started, but for one process and what that has started: each page counts
 * once, however many processes share it ("Pss", proc_pid_smaps_rollup(5)).
 */
export function measureMemory(except: number): MemoryMeter {
  let most: Memory = { all: 0, shared: 0 };
  let look = Promise.resolve();
  const timer = setInterval(() => {
    look = look.then(async () => {
      const seen = await memoryOf(process.pid, [except]);
      if (seen.all > most.all) most = seen;
    });
  }, everyMs);
  return {
    most: () => most,
    async stop() {
      clearInterval(timer);
      await look;
      return most;
    },
  };
}

/** Of a process and what it has started, but for some processes and what those have started. */
export async function memoryOf(ancestor: number, except: readonly number[]): Promise<Memory> {
  const others = new Set(
    except.flatMap((pid) => [pid, ...descendantsOf(pid).map((started) => started.pid)]),
  );
  const all = [ancestor, ...descendantsOf(ancestor).map(({ pid }) => pid)];
  const texts = await Promise.all(all.filter((pid) => !others.has(pid)).map(readSizes));
  const megabytes = (name: string) => {
    const size = new RegExp(`^${name}:\\s+(\\d+)`, "m");
    return Math.round(
      texts.reduce((sum, text) => sum + Number(size.exec(text)?.[1] ?? 0), 0) / 1_024,
    );
  };
  return { all: megabytes("Pss"), shared: megabytes("Pss_Shmem") };
}

/** Empty when the process is gone. */
const readSizes = (pid: number) => readFile(`/proc/${pid}/smaps_rollup`, "utf8").catch(() => "");
