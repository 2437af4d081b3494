import type { Command } from "commander";
import {
  assertArchivable,
  type NotedArchive,
  readArchives,
} from "../../../../projections/log/archives/archives.ts";
import {
  type Detached,
  detachPartition,
} from "../../../../projections/log/archives/detach-partition.ts";
import { findHindrances } from "../../../../projections/log/archives/find-hindrances.ts";
import { withDatabase } from "../cli/open-database.ts";
import { print } from "../cli/output.ts";
import {
  doUnhindered,
  notDone,
  withPartitionOptions,
  withPartitions,
} from "./chosen-partitions.ts";

type Options = { partition?: bigint; json?: boolean };

/** `op log detach` */
export function addDetach(log: Command): void {
  withPartitionOptions(
    log
      .command("detach")
      .description(
        "take facts of archived partitions out of the database that only rebuilds and lists of old events need",
      ),
  ).action(detach);
}

const notArchived = "it is not archived";

type Done = Detached & { first: bigint; last: bigint };

async function detach({ partition, json }: Options): Promise<void> {
  await withDatabase("log detach", async ({ db, config }) => {
    const chainIds = config.chains.map(({ chainId }) => chainId);
    await withPartitions(db, partition, async (chosen) => {
      await assertArchivable(db);
      const archives = new Map((await readArchives(db)).map((one) => [one.first, one]));
      const { done: detached, skipped } = await doUnhindered(chosen, {
        findHindrances: async (one) =>
          findArchiveHindrances(archives.get(one.first)) ??
          (await findHindrances(db, one, chainIds)),
        async carryOut(one) {
          const { first, last } = one;
          const archive = archives.get(first);
          if (archive === undefined) throw new Error(notArchived);
          return { first, last, ...(await detachPartition(db, one, archive)) };
        },
      });
      print(json, { detached, skipped }, [
        ...detached.map(lineOf),
        ...skipped.map(notDone("detached")),
      ]);
      if (partition !== undefined && skipped.length > 0) process.exitCode = 1;
    });
  });
}

function findArchiveHindrances(archive: NotedArchive | undefined): string[] | undefined {
  if (archive === undefined) return [notArchived];
  return archive.detachedAt === null ? undefined : ["it was detached before"];
}

const lineOf = ({ first, last, left, kept }: Done): string =>
  `positions ${first} to ${last}: ${left} facts left the database, ${kept} stay`;
