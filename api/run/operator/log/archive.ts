import { resolve } from "node:path";
import type { Command } from "commander";
import type { Database } from "../../../../projections/database.ts";
import { assertArchivable, readDetached } from "../../../../projections/log/archives/archives.ts";
import { checkArchiveFile } from "../../../../projections/log/archives/check-archive.ts";
import { findHindrances } from "../../../../projections/log/archives/find-hindrances.ts";
import type { Partition } from "../../../../projections/log/partitions/read-partitions.ts";
import { type Archived, archivePartition } from "../../archives/archive-partition.ts";
import { megabytes } from "../../inspection/megabytes.ts";
import { withDatabase } from "../cli/open-database.ts";
import { print } from "../cli/output.ts";
import {
  notDone,
  type Skipped,
  skip,
  withPartitionOptions,
  withPartitions,
} from "./chosen-partitions.ts";

type Options = { to: string; partition?: bigint; json?: boolean };

/** `op log archive` */
export function addArchive(log: Command): void {
  withPartitionOptions(
    log
      .command("archive")
      .description(
        "write whole, final partitions to Parquet files, read back and compared; the log stays as it is",
      )
      .requiredOption("--to <directory>", "where the files are written"),
  ).action(archive);
}

async function archive({ to, partition, json }: Options): Promise<void> {
  const directory = resolve(to);
  await withDatabase("log archive", async ({ db }) => {
    await withPartitions(db, partition, async (chosen) => {
      await assertArchivable(db);
      const archived: Archived[] = [];
      const skipped: Skipped[] = [];
      for (const one of chosen) {
        const hindrances = await findArchiveHindrances(db, one, directory);
        if (hindrances.length > 0) skipped.push(skip(one, hindrances));
        else archived.push(await archivePartition(db, one, directory));
      }
      print(json, { archived, skipped }, [
        ...archived.map(lineOf),
        ...skipped.map(notDone("archived")),
      ]);
      if (partition !== undefined && skipped.length > 0) process.exitCode = 1;
    });
  });
}

/** Of a detached partition the directory must have the file already: its facts are nowhere else. */
async function findArchiveHindrances(
  db: Database,
  partition: Partition,
  directory: string,
): Promise<string[]> {
  const detached = (await readDetached(db)).find(({ first }) => first === partition.first);
  if (detached === undefined) return await findHindrances(db, partition);
  const wrong = await checkArchiveFile({ ...detached, directory });
  return wrong === null ? [] : [`it was detached, and ${wrong}`];
}

function lineOf({ first, last, facts, directory, file, bytes, isNew }: Archived): string {
  const how = isNew ? "" : ", which was there";
  return `positions ${first} to ${last}: ${facts} facts in ${directory}/${file} (${megabytes(Number(bytes))})${how}`;
}
