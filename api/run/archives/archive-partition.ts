import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { sql } from "kysely";
import type { Database } from "../../../projections/database.ts";
import {
  type Archive,
  type NotedArchive,
  noteArchive,
  readArchives,
  readDetached,
} from "../../../projections/log/archives/archives.ts";
import {
  assertReadable,
  checkArchiveFile,
  DamagedArchive,
} from "../../../projections/log/archives/check-archive.ts";
import { digestFacts, type FactsDigest } from "../../../projections/log/archives/digest.ts";
import { readLines } from "../../../projections/log/archives/read-lines.ts";
import type { Partition } from "../../../projections/log/partitions/read-partitions.ts";
import { writeArchiveFile } from "./archive-file.ts";
import { archiveName, readManifest, writeManifest } from "./manifest.ts";

/** `isNew`: false where the directory had the file already, as it was written. */
export type Archived = Archive & { readonly isNew: boolean };

/**
 * Writes a partition's facts to a file of the directory, reads them back, and notes the file once PostgreSQL makes the
 * same digest of the table. Nothing of the log changes. After a kill the same call goes on: a file appears whole or not
 * at all, and one that is there is only checked. Of a detached partition the directory must have the file, else it throws
 * `DamagedArchive`.
 */
export async function archivePartition(
  db: Database,
  { table, first, last }: Partition,
  directory: string,
): Promise<Archived> {
  await mkdir(directory, { recursive: true });
  const detached = (await readDetached(db)).find((one) => one.first === first);
  if (detached !== undefined) {
    const copied = { ...withoutState(detached), directory };
    const wrong = await checkArchiveFile(copied);
    // Its facts are nowhere else.
    if (wrong !== null) throw new DamagedArchive(`it was detached, and ${wrong}`);
    await noteArchive(db, copied);
    return { ...copied, isNew: false };
  }
  const held = await digestFacts(db, sql.table(table), { first, last });
  const found = await findWritten(db, { first, last }, directory, held);
  if (found !== null) {
    await noteArchive(db, found);
    return { ...found, isNew: false };
  }
  const file = archiveName({ first, last });
  const written = await writeArchiveFile(
    join(directory, file),
    readLines(db, { table, first, last }),
  );
  const archive = { first, last, directory, file, ...written };
  if (!isSame(archive, held))
    throw new Error(`${table} has other facts in its file than in the log: nothing was noted`);
  await assertReadable(archive);
  await writeManifest(archive);
  await noteArchive(db, archive);
  return { ...archive, isNew: true };
}

const isSame = (one: FactsDigest, other: FactsDigest) =>
  one.facts === other.facts && one.digest === other.digest;

/** A file that holds these facts, by the record of it or by its manifest, and is as it was written. */
async function findWritten(
  db: Database,
  bounds: Pick<Archive, "first" | "last">,
  directory: string,
  held: FactsDigest,
): Promise<Archive | null> {
  const noted = (await readArchives(db)).find(({ first }) => first === bounds.first);
  const candidate =
    noted?.directory === directory ? withoutState(noted) : await readManifest(directory, bounds);
  if (candidate === null || !isSame(candidate, held)) return null;
  return (await checkArchiveFile(candidate)) === null ? candidate : null;
}

const withoutState = ({ detachedAt: _, ...archive }: NotedArchive): Archive => archive;
