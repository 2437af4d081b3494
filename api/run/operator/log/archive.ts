import { resolve } from "node:path";
import { type Command, InvalidArgumentError } from "commander";
import type { Database } from "../../../../projections/database.ts";
import { assertArchivable } from "../../../../projections/log/archives/archives.ts";
import { findHindrances } from "../../../../projections/log/archives/find-hindrances.ts";
import {
  type Partition,
  readPartitions,
} from "../../../../projections/log/partitions/read-partitions.ts";
import { withLock } from "../../../../projections/named-lock.ts";
import { type Archived, archivePartition } from "../../archives/archive-partition.ts";
import { megabytes } from "../../inspection/megabytes.ts";
import { withDatabase } from "../cli/open-database.ts";
import { print } from "../cli/output.ts";

type Options = { to: string; partition?: bigint; json?: boolean };

/** `op log archive` */
export function addArchive(log: Command): void {
  log
    .command("archive")
    .description(
      "write whole, final partitions to Parquet files, read back and compared; the log stays as it is",
    )
    .requiredOption("--to <directory>", "where the files are written")
    .option(
      "--partition <position>",
      "the partition that begins there; default: all that may be",
      parsePosition,
    )
    .option("--json", "print JSON")
    .exitOverride()
    .action(archive);
}

function parsePosition(text: string): bigint {
  if (!/^\d{1,18}$/.test(text))
    throw new InvalidArgumentError("expected the position that a partition begins at");
  return BigInt(text);
}

type Skipped = { first: bigint; last: bigint; hindrances: string[] };

async function archive({ to, partition, json }: Options): Promise<void> {
  const directory = resolve(to);
  await withDatabase("log archive", async ({ db }) => {
    await withLock(db, archivesLock, async () => {
      const chosen = await choosePartitions(db, partition);
      await assertArchivable(db);
      const archived: Archived[] = [];
      const skipped: Skipped[] = [];
      for (const one of chosen) {
        const { first, last } = one;
        const hindrances = await findHindrances(db, one);
        if (hindrances.length > 0) skipped.push({ first, last, hindrances });
        else archived.push(await archivePartition(db, one, directory));
      }
      print(json, { archived, skipped }, [...archived.map(lineOf), ...skipped.map(reasonOf)]);
      if (partition !== undefined && skipped.length > 0) process.exitCode = 1;
    });
  });
}

/** Whatever writes archives, or changes what the log holds of them, holds it. */
const archivesLock = "log archives";

async function choosePartitions(db: Database, first: bigint | undefined): Promise<Partition[]> {
  const all = await readPartitions(db);
  if (first === undefined) return all;
  const one = all.find((partition) => partition.first === first);
  if (one === undefined)
    throw new Error(`no partition of the log begins at ${first}: op log partitions lists them`);
  return [one];
}

function lineOf({ first, last, facts, directory, file, bytes, isNew }: Archived): string {
  const how = isNew ? "" : ", which was there";
  return `positions ${first} to ${last}: ${facts} facts in ${directory}/${file} (${megabytes(Number(bytes))})${how}`;
}

const reasonOf = ({ first, last, hindrances }: Skipped): string =>
  `positions ${first} to ${last}: not archived: ${hindrances.join("; ")}`;
