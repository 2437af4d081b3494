import type { Command } from "commander";
import { type NotedArchive, readArchives } from "../../../../projections/log/archives/archives.ts";
import { readPartitions } from "../../../../projections/log/partitions/read-partitions.ts";
import { megabytes } from "../../inspection/megabytes.ts";
import { withDatabase } from "../cli/open-database.ts";
import { print, tableLines } from "../cli/output.ts";
import { addArchive } from "./archive.ts";
import { addAttach } from "./attach.ts";
import { addDetach } from "./detach.ts";

/** `op log partitions` */
export function addLog(program: Command): void {
  const log = program.command("log").description("the log's partitions, and archives of them");
  log
    .command("partitions")
    .description("the partitions of the log: positions, facts and size of each")
    .option("--json", "print JSON")
    .exitOverride()
    .action(list);
  addArchive(log);
  addDetach(log);
  addAttach(log);
}

async function list({ json }: { json?: boolean }): Promise<void> {
  await withDatabase("log partitions", async ({ db }) => {
    const archives = new Map((await readArchives(db)).map((one) => [one.first, one]));
    const partitions = (await readPartitions(db)).map((one) => {
      const archive = archives.get(one.first) ?? null;
      return { ...one, archive, state: stateOf(archive) };
    });
    const rows = partitions.map(({ table, first, last, facts, bytes, state }) => [
      table,
      `${first}`,
      `${last}`,
      facts === null ? "" : `${facts}`,
      megabytes(Number(bytes)),
      state,
    ]);
    print(
      json,
      { partitions },
      partitions.length === 0
        ? ["the log has no partitions: run op migrate"]
        : tableLines([["table", "from", "to", "facts", "size", "archive"], ...rows]),
    );
  });
}

function stateOf(archive: NotedArchive | null): "none" | "archived" | "detached" {
  if (archive === null) return "none";
  return archive.detachedAt === null ? "archived" : "detached";
}
