import { mkdtemp, readdir, rm, statfs } from "node:fs/promises";
import { freemem, tmpdir } from "node:os";
import { join } from "node:path";
import { startTimeOf } from "#ops/postgres/live-processes.ts";

/** Linux' file system in memory, of which a service may have as much as half of the machine's. */
const inMemory = { path: "/dev/shm", type: 0x01021994, bytes: 8 * 2 ** 30 };

/**
 * Makes the directory of a test's PostgreSQL, whose data no crash of the machine has to outlive: in memory where there
 * is plenty, as a database has a thousand files, which costs half a second of CPU on a disk and a twentieth in memory.
 */
export async function makeServerDirectory(): Promise<string> {
  const parent = (await hasMemory()) ? inMemory.path : tmpdir();
  return mkdtemp(join(parent, `test-postgres-${process.pid}-`));
}

/** Removes those of processes that were killed. Those of another user are not ours to remove. */
export async function removeLeftoverDirectories(): Promise<void> {
  for (const parent of [tmpdir(), inMemory.path]) {
    for (const name of await readdir(parent).catch(() => [])) {
      const [, pid] = /^test-postgres-(\d+)-/.exec(name) ?? [];
      if (pid === undefined || startTimeOf(Number(pid)) !== undefined) continue;
      await rm(join(parent, name), { recursive: true, force: true }).catch(ignoreForeign);
    }
  }
}

function ignoreForeign(error: NodeJS.ErrnoException): void {
  if (error.code !== "EACCES" && error.code !== "EPERM") throw error;
}

async function hasMemory(): Promise<boolean> {
  const { path, type, bytes } = inMemory;
  const found = await statfs(path).catch(() => undefined);
  if (found?.type !== type) return false;
  const memory = Math.min(freemem(), process.constrainedMemory() || Number.POSITIVE_INFINITY);
  return Math.min(found.bavail * found.bsize, memory) >= bytes;
}
