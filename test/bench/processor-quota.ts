import { existsSync, mkdirSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

const periodMicroseconds = 10_000;
const attempts = 100;
const pauseMs = 50;

export type ProcessorQuota = {
  /** Once the process has ended. */
  remove(): Promise<void>;
};

/** Lets a process, with threads that it has and will have, use a share of one core: by the kernel's control groups, as root. */
export function limitProcessor(pid: number, share: number): ProcessorQuota {
  const quota = Math.round(share * periodMicroseconds);
  const [root, limits] = existsSync("/sys/fs/cgroup/cgroup.controllers")
    ? ["/sys/fs/cgroup", { "cpu.max": `${quota} ${periodMicroseconds}` }]
    : [
        "/sys/fs/cgroup/cpu",
        { "cpu.cfs_period_us": `${periodMicroseconds}`, "cpu.cfs_quota_us": `${quota}` },
      ];
  const group = join(root, `bench-${pid}`);
  mkdirSync(group);
  for (const [file, value] of Object.entries(limits)) writeFileSync(join(group, file), value);
  writeFileSync(join(group, "cgroup.procs"), `${pid}`);
  return {
    async remove() {
      for (let attempt = 1; ; attempt += 1) {
        try {
          rmdirSync(group);
          return;
        } catch (error) {
          if (attempt === attempts) throw error;
          await delay(pauseMs);
        }
      }
    },
  };
}
