import { createHash } from "node:crypto";
import { type FileHandle, mkdir, open, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { archivedColumns, cellsOf } from "../../../projections/log/archives/archived-columns.ts";
import { type FactsDigest, LinesDigest } from "../../../projections/log/archives/digest.ts";
import type { FileDigest } from "../../../projections/log/archives/digest-file.ts";
import type { FactLine } from "../../../projections/log/archives/read-lines.ts";
import { writeParquet } from "../parquet/parquet.ts";

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
