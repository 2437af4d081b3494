import type { Command } from "commander";
import { readPartitions } from "#projections/log/schema.ts";
import { megabytes } from "#api/run/inspection/megabytes.ts";
import { withDatabase } from "../cli/open-database.ts";
import { print, tableLines } from "../cli/output.ts";

/** `op log partitions` */
export function addLog(program: Command): void {
  program
    .command("log")
    .description("the log's partitions")
    .command("partitions")
    .description("the partitions of the log: positions, facts and size of each")
    .option("--json", "print JSON")
    .exitOverride()
    .action(list);
}

async function list({ json }: { json?: boolean }): Promise<void> {
  await withDatabase("log partitions", async ({ db }) => {
    const partitions = await readPartitions(db);
    const rows = partitions.map(({ table, first, last, facts, bytes }) => [
      table,
      `${first}`,
      `${last}`,
      facts === null ? "" : `${facts}`,
      megabytes(Number(bytes)),
    ]);
    print(json, { partitions }, tableLines([["table", "from", "to", "facts", "size"], ...rows]));
  });
}
