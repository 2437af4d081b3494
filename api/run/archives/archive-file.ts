import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { type FileHandle, mkdir, open, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { archivedColumns, cellsOf } from "../../../projections/log/archives/archived-columns.ts";
import { type FactsDigest, LinesDigest } from "../../../projections/log/archives/digest.ts";
import type { FactLine } from "../../../projections/log/archives/read-lines.ts";
import { writeParquet } from "../parquet/parquet.ts";

/** A file's length, and what `sha256sum` prints of it. */
export type FileDigest = { readonly bytes: bigint; readonly sha256: string };

/** Writes facts as a Parquet file, which appears under its name when it is whole and on the disk. */
export async function writeArchiveFile(
  place: string,
  pages: AsyncIterable<readonly FactLine[]>,
): Promise<FileDigest & FactsDigest> {
  const part = `${place}.part`;
  const handle = await open(part, "w");
  try {
    const written = await writeFacts(handle, pages);
    await handle.sync();
    await rename(part, place);
    return written;
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  } finally {
    await handle.close();
  }
}

async function writeFacts(handle: FileHandle, pages: AsyncIterable<readonly FactLine[]>) {
  const facts = new LinesDigest();
  const file = createHash("sha256");
  let bytes = 0n;
  const writer = writeParquet(archivedColumns, async (content) => {
    file.update(content);
    bytes += BigInt(content.length);
    await handle.writeFile(content);
  });
  for await (const page of pages) {
    for (const { position, line } of page) facts.add(position, line);
    await writer.write(page.map(({ line }) => cellsOf(line)));
  }
  await writer.end();
  return { bytes, sha256: file.digest("hex"), ...facts.end() };
}

/** Null: there is no such file. */
export async function digestFile(place: string): Promise<FileDigest | null> {
  const found = await stat(place).catch(() => null);
  if (found === null) return null;
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(place)) hash.update(chunk);
  return { bytes: BigInt(found.size), sha256: hash.digest("hex") };
}

/** Makes sure that names in a directory outlive the machine. */
async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, "r");
  await handle.sync().finally(() => handle.close());
}

/** Writes a small file the same way as an archive. */
export async function writeWhole(directory: string, name: string, text: string): Promise<void> {
  await mkdir(directory, { recursive: true });
  const part = join(directory, `${name}.part`);
  const handle = await open(part, "w");
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(part, join(directory, name));
  await syncDirectory(directory);
}
