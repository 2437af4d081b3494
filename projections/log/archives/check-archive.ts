import { join } from "node:path";
import type { Archive } from "./archives.ts";
import { LinesDigest } from "./digest.ts";
import { digestFile } from "./digest-file.ts";
import { readArchiveFile } from "./read-archive-file.ts";
import type { FactLine } from "./read-lines.ts";

/** What is wrong with an archive's file; null: it is as it was written. It is read once, and nothing of it is decoded. */
export async function checkArchiveFile(archive: Archive): Promise<string | null> {
  const place = placeOf(archive);
  const found = await digestFile(place);
  if (found === null) return `${place} is missing`;
  if (found.bytes !== archive.bytes)
    return `${place} has ${found.bytes} bytes, and was written with ${archive.bytes}`;
  if (found.sha256 !== archive.sha256)
    return `${place} is damaged: its SHA-256 is ${found.sha256}, and was ${archive.sha256}`;
  return null;
}

/** An archive's file is missing or not as it was written: the message says which and how. */
export class DamagedArchive extends Error {}

/** The same as an error. */
export async function assertWhole(archive: Archive): Promise<void> {
  const wrong = await checkArchiveFile(archive);
  if (wrong !== null) throw new DamagedArchive(wrong);
}

/**
 * The same of the facts that are read from one that was just written. No `DamagedArchive`: where that is not as it was
 * written, no other file will be.
 */
export async function assertReadable(archive: Archive): Promise<void> {
  const wrong = await checkArchiveFile(archive);
  if (wrong !== null) throw new Error(wrong);
  for await (const _page of readArchivedFacts(archive));
}

/** The facts of a file that is whole, in the order of positions. Throws at its end where they are others than it was written from. */
export async function* readArchivedFacts(archive: Archive): AsyncGenerator<FactLine[]> {
  const lines = new LinesDigest();
  for await (const page of readArchiveFile(placeOf(archive))) {
    for (const { position, line } of page) lines.add(position, line);
    yield page;
  }
  const { facts, digest } = lines.end();
  if (facts !== archive.facts || digest !== archive.digest)
    throw new Error(`${placeOf(archive)} does not hold the facts that it was written from`);
}

const placeOf = ({ directory, file }: Archive): string => join(directory, file);
