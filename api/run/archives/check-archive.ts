import { join } from "node:path";
import type { Archive } from "../../../projections/log/archives/archives.ts";
import { LinesDigest } from "../../../projections/log/archives/digest.ts";
import { digestFile } from "./archive-file.ts";
import { readArchiveFile } from "./read-archive-file.ts";

/** What is wrong with an archive's file; null: it is as it was written. It is read once, and nothing of it is decoded. */
export async function checkArchiveFile(archive: Archive): Promise<string | null> {
  const place = join(archive.directory, archive.file);
  const found = await digestFile(place);
  if (found === null) return `${place} is missing`;
  if (found.bytes !== archive.bytes)
    return `${place} has ${found.bytes} bytes, and was written with ${archive.bytes}`;
  if (found.sha256 !== archive.sha256)
    return `${place} is damaged: its SHA-256 is ${found.sha256}, and was ${archive.sha256}`;
  return null;
}

/** The same of the facts that are read from it: throws what is wrong. */
export async function assertReadable(archive: Archive): Promise<void> {
  const wrong = await checkArchiveFile(archive);
  if (wrong !== null) throw new Error(wrong);
  const place = join(archive.directory, archive.file);
  const lines = new LinesDigest();
  for await (const page of readArchiveFile(place))
    for (const { position, line } of page) lines.add(position, line);
  const { facts, digest } = lines.end();
  if (facts !== archive.facts || digest !== archive.digest)
    throw new Error(`${place} does not hold the facts that it was written from`);
}
