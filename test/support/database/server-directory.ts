import { mkdtemp, statfs } from "node:fs/promises";
import { freemem, tmpdir } from "node:os";
import { join } from "node:path";

/** Linux' file system in memory, of which a service may have as much as half of the machine's. */
const inMemory = { path: "/dev/shm", type: 0x01021994, bytes: 8 * 2 ** 30 };

/**
 * Makes the directory of a test's PostgreSQL, whose data no crash of the machine has to outlive: in memory where there
 * is plenty, as a database has a thousand files, which costs half a second of CPU on a disk and a twentieth in memory.
 */
export async function makeServerDirectory(prefix: string): Promise<string> {
  return mkdtemp(join((await hasMemory()) ? inMemory.path : tmpdir(), prefix));
}

/** Where they can be. */
export const serverParents = [tmpdir(), inMemory.path];

async function hasMemory(): Promise<boolean> {
  const { path, type, bytes } = inMemory;
  const found = await statfs(path).catch(() => undefined);
  if (found?.type !== type) return false;
  const memory = Math.min(freemem(), process.constrainedMemory() || Number.POSITIVE_INFINITY);
  return Math.min(found.bavail * found.bsize, memory) >= bytes;
}
