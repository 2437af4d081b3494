import { resolve } from "node:path";
import type { Command } from "commander";
import { assertArchivable, readDetached } from "../../../../projections/log/archives/archives.ts";
import { findHindrances } from "../../../../projections/log/archives/find-hindrances.ts";
import { type Archived, archivePartition } from "../../archives/archive-partition.ts";
import { megabytes } from "../../inspection/megabytes.ts";
import { withDatabase } from "../cli/open-database.ts";
import { print } from "../cli/output.ts";
import {
  doUnhindered,
  notDone,
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
  await withDatabase("log archive", async ({ db, config }) => {
    const chainIds = config.chains.map(({ chainId }) => chainId);
    await withPartitions(db, partition, async (chosen) => {
      await assertArchivable(db);
      const detached = new Set((await readDetached(db)).map(({ first }) => first));
      const { done: archived, skipped } = await doUnhindered(chosen, {
        findHindrances: async (one) =>
          detached.has(one.first) ? [] : await findHindrances(db, one, chainIds),
        carryOut: (one) => archivePartition(db, one, directory),
      });
      print(json, { archived, skipped }, [
        ...archived.map(lineOf),
        ...skipped.map(notDone("archived")),
      ]);
      if (partition !== undefined && skipped.length > 0) process.exitCode = 1;
    });
  });
}

function lineOf({ first, last, facts, directory, file, bytes, isNew }: Archived): string {
  const how = isNew ? "" : ", which was there";
  return `positions ${first} to ${last}: ${facts} facts in ${directory}/${file} (${megabytes(Number(bytes))})${how}`;
}
