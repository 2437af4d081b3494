import { execFile } from "node:child_process";
import { statfs } from "node:fs/promises";
import { promisify } from "node:util";

const run = promisify(execFile);

/** A file system of its own, in memory, that can be made as small as what it holds. */
export type Disk = {
  fill(): Promise<void>;
  empty(): Promise<void>;
  unmount(): Promise<void>;
};

const size = "6g";

/** Null where this user may not mount. */
export async function mountDisk(directory: string): Promise<Disk | null> {
  const resize = (bytes: string) =>
    run("mount", ["-o", `remount,size=${bytes}`, "tmpfs", directory]);
  try {
    await run("mount", ["-t", "tmpfs", "-o", `size=${size}`, "tmpfs", directory]);
  } catch {
    return null;
  }
  return {
    async fill() {
      // What is written meanwhile makes the first size too small, which is refused.
      for (let tries = 0; ; tries += 1) {
        const { blocks, bfree, bsize } = await statfs(directory);
        try {
          await resize(`${(blocks - bfree) * bsize}`);
          return;
        } catch (error) {
          if (tries === 10) throw error;
        }
      }
    },
    async empty() {
      await resize(size);
    },
    async unmount() {
      await run("umount", ["-l", directory]);
    },
  };
}
