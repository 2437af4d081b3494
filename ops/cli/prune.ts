import type { Command } from "commander";
import { bindViewsIfStale } from "#projections/analytics/bind-views.ts";
import type { Database } from "#projections/log/database.ts";
import { readPartitions } from "#projections/log/schema.ts";
import { configuredProjections } from "../reports/inspected-config.ts";
import { megabytes } from "../reports/present-fact.ts";
import { dropStaleSchema, findStaleSchemas, type StaleSchema } from "../reports/stale-schemas.ts";
import { withDatabase } from "./open-database.ts";
import { type JsonFlag, print, tableLines } from "./output.ts";

/** `op prune` */
export function addPrune(program: Command): void {
  program
    .command("prune")
    .description("list unused schemas, and drop them with --yes")
    .option("--yes", "drop them")
    .action(async ({ yes, json }: { yes?: boolean; json?: boolean }) => {
      await withDatabase("prune", async ({ db, config }) => {
        const found = await findStaleSchemas(db, config, configuredProjections(config));
        const stale = yes ? await dropAll(db, found) : found.map((one) => present(one, unasked));
        print(json, { stale }, linesOf(stale, yes === true));
        if (yes && stale.some(({ isDropped }) => !isDropped)) process.exitCode = 1;
      });
    });
}

const unasked = "--yes not given";

async function dropAll(db: Database, found: readonly StaleSchema[]): Promise<Pruned[]> {
  // Analysts' views may still be on the tables of a release that has ended.
  await db.transaction().execute(bindViewsIfStale);
  const pruned: Pruned[] = [];
  for (const one of found) pruned.push(present(one, await dropStaleSchema(db, one)));
  return pruned;
}

type Pruned = {
  schema: string;
  bytes: number;
  why: string;
  isDropped: boolean;
  left: string | null;
};

function present({ schema, bytes, why }: StaleSchema, left: string | null): Pruned {
  return { schema, bytes: Number(bytes), why, isDropped: left === null, left };
}

function linesOf(stale: readonly Pruned[], isConfirmed: boolean): string[] {
  if (stale.length === 0) return ["nothing to drop"];
  const rows = stale.map(({ schema, bytes, why, left }) => [
    schema,
    megabytes(bytes),
    why,
    left === null ? "dropped" : `kept: ${left}`,
  ]);
  return [...tableLines(rows), ...(isConfirmed ? [] : ["op prune --yes drops them"])];
}

/** `op log partitions` */
export function addLog(program: Command): void {
  program
    .command("log")
    .description("the log's partitions")
    .command("partitions")
    .description("the partitions of the log: positions, facts and size of each")
    .action(list);
}

async function list({ json }: JsonFlag): Promise<void> {
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
