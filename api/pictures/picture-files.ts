import { randomUUID } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** Pictures on the disk, at most so many bytes of them: those that nobody asked for the longest go first. */
export type PictureFiles = {
  read(name: string): Promise<Buffer | undefined>;
  write(name: string, bytes: Uint8Array): Promise<void>;
};

type Options = {
  readonly directory: string;
  readonly maxBytes: number;
  readonly now: () => number;
};

/** Of the most bytes, how many are written between two looks at all files, and how many are left after one that found too many. */
const shareBetween = 0.05;
const shareKept = 0.9;
/** Milliseconds after which a file that was read counts as used again. */
const useMs = 3_600_000;

/** Several processes may share a directory: each counts what is there, not what it wrote. */
export function openPictureFiles({ directory, maxBytes, now }: Options): PictureFiles {
  let written = Number.POSITIVE_INFINITY;
  let sweeping: Promise<void> | undefined;
  const pathOf = (name: string) => join(directory, name.slice(0, 2), name);

  async function sweep(): Promise<void> {
    written = 0;
    const files = await filesBelow(directory);
    let total = files.reduce((sum, { size }) => sum + size, 0);
    if (total <= maxBytes * (1 - shareBetween)) return;
    for (const { path, size } of files.sort((one, other) => one.usedMs - other.usedMs)) {
      if (total <= maxBytes * shareKept) return;
      await rm(path, { force: true });
      total -= size;
    }
  }

  return {
    async read(name) {
      const path = pathOf(name);
      try {
        const bytes = await readFile(path);
        const { atimeMs, mtime } = await stat(path);
        if (now() - atimeMs > useMs) await utimes(path, new Date(now()), mtime);
        return bytes;
      } catch {
        // Never written, removed by another process, or on a disk that fails: it is made again.
        return undefined;
      }
    },
    async write(name, bytes) {
      if (bytes.byteLength > maxBytes * shareBetween) return;
      if (written + bytes.byteLength > maxBytes * shareBetween) {
        sweeping ??= sweep().finally(() => {
          sweeping = undefined;
        });
      }
      await sweeping;
      written += bytes.byteLength;
      const path = pathOf(name);
      await mkdir(join(path, ".."), { recursive: true });
      // Whoever reads it meanwhile gets all of it, or nothing.
      const unfinished = `${path}.${randomUUID()}`;
      await writeFile(unfinished, bytes);
      await rename(unfinished, path);
    },
  };
}

type StoredFile = { path: string; size: number; usedMs: number };

async function filesBelow(directory: string): Promise<StoredFile[]> {
  await mkdir(directory, { recursive: true });
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const found: StoredFile[] = [];
  for (const { parentPath, name } of files) {
    const path = join(parentPath, name);
    const about = await stat(path).catch(() => undefined);
    if (about !== undefined) found.push({ path, size: about.size, usedMs: about.atimeMs });
  }
  return found;
}
