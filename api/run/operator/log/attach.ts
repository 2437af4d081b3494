import type { Command } from "commander";
import {
  assertArchivable,
  type NotedArchive,
  readDetached,
} from "../../../../projections/log/archives/archives.ts";
import { attachPartition } from "../../../../projections/log/archives/attach-partition.ts";
import { withDatabase } from "../cli/open-database.ts";
import { print } from "../cli/output.ts";
import { withPartitionOptions, withPartitions } from "./chosen-partitions.ts";

type Options = { partition?: bigint; json?: boolean };

/** `op log attach` */
export function addAttach(log: Command): void {
  withPartitionOptions(
    log
      .command("attach")
      .description("bring the facts of detached partitions back from their files"),
  ).action(attach);
}

async function attach({ partition, json }: Options): Promise<void> {
  await withDatabase("log attach", async ({ db }) => {
    await withPartitions(db, partition, async (chosen) => {
      await assertArchivable(db);
      const detached = new Map((await readDetached(db)).map((one) => [one.first, one]));
      const attached: NotedArchive[] = [];
      for (const one of chosen) {
        const archive = detached.get(one.first);
        if (archive === undefined) continue;
        await attachPartition(db, one, archive);
        attached.push({ ...archive, detachedAt: null });
      }
      const lines = attached.map(
        ({ first, last, facts }) => `positions ${first} to ${last}: ${facts} facts are back`,
      );
      print(json, { attached }, lines.length === 0 ? ["no such partition is detached"] : lines);
    });
  });
}
