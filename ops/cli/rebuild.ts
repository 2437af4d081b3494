import type { Command } from "commander";
import { configuredProjections } from "#ops/reports/inspected-config.ts";
import { megabytes } from "#ops/reports/present-fact.ts";
import { dropStaleSchema, findStaleSchemas, type StaleSchema } from "#ops/reports/stale-schemas.ts";
import { bindViews, bindViewsIfStale } from "#projections/analytics/bind-views.ts";
import { isCurrent, readCheckpoints } from "#projections/engine/checkpoint.ts";
import type { Projection } from "#projections/engine/projection.ts";
import { rebuild, rollBack, withDependents } from "#projections/engine/rebuild.ts";
import { dependsOn, runConcurrently } from "#projections/engine/run-concurrently.ts";
import {
  type StartedRebuild,
  shadowSchemas,
  startRebuild,
} from "#projections/engine/shadow-schema.ts";
import type { Database } from "#projections/log/database.ts";
import { readPartitions } from "#projections/log/schema.ts";
import { schemaOf } from "#projections/log/versions.ts";
import { chooseProjections } from "./arguments.ts";
import { withDatabase } from "./open-database.ts";
import {
  type JsonFlag,
  openProgress,
  type Progress,
  print,
  reportBuild,
  tableLines,
} from "./output.ts";

/** `op rebuild [projection…]` */
export function addRebuild(program: Command): void {
  program
    .command("rebuild")
    .description("derive projections again into new tables, then swap them with the serving ones")
    .argument("[projection...]", "default: all")
    .option("--anew", "start from the beginning instead of resuming an interrupted rebuild")
    .action(async (names: string[], { json, anew }: Options, command: Command) => {
      await withDatabase(
        "rebuild",
        async ({ db, config }) => {
          const all = configuredProjections(config);
          const named = chooseProjections(command, all, names);
          const rebuilt = await rebuildChosen(db, withDependents(all, named), {
            named,
            json,
            anew,
          });
          print(json, { rebuilt }, []);
        },
        { as: "projector" },
      );
    });
}

type Options = { json?: boolean | undefined; anew?: boolean | undefined };

async function rebuildChosen(
  db: Database,
  chosen: readonly Projection[],
  { named, json, anew }: Options & { named: readonly string[] },
) {
  const run = await startRebuild(db, chosen, anew === true);
  if (run.isResumed) process.stderr.write(`${resumeMessage(run)}\n`);
  for (const projection of run.remaining) {
    if (named.includes(projection.name)) continue;
    process.stderr.write(`${reasonFor(projection, chosen)}\n`);
  }
  const progress = openProgress("rebuilding");
  const rebuildOne = (projection: Projection) => rebuildShown(db, projection, { json, progress });
  return await runConcurrently(run.remaining, rebuildOne, dependsOn).finally(progress.end);
}

function resumeMessage({ names, remaining, startedAt }: StartedRebuild): string {
  const done = names.filter((one) => remaining.every(({ name }) => name !== one));
  const finished = done.length === 0 ? "none finished" : `finished: ${done.join(", ")}`;
  return `resuming the rebuild started ${startedAt.toISOString()} (${finished}); --anew starts from the beginning`;
}

function reasonFor({ name, reads = [] }: Projection, chosen: readonly Projection[]): string {
  const read = chosen.filter((one) => reads.includes(one.name)).map((one) => one.name);
  return `${name} is rebuilt too, because it reads ${read.join(" and ")}`;
}

/** Rebuilds one projection and prints the result. */
export async function rebuildShown(
  db: Database,
  projection: Projection,
  { json, progress }: { json?: boolean | undefined; progress: Progress },
) {
  const { name, version } = projection;
  const before = (await readCheckpoints(db)).get(schemaOf(name));
  const startedAt = performance.now();
  await rebuild(db, projection, reportBuild(progress), bindViews);
  progress.done(name);
  const seconds = (performance.now() - startedAt) / 1_000;
  const position = (await readCheckpoints(db)).get(schemaOf(name))?.position ?? 0n;
  const previous = before === undefined ? null : shadowSchemas(name).previous;
  const rate = Math.round(Number(position) / seconds);
  const result = `${name} rebuilt: ${position} facts in ${seconds.toFixed(1)} s, ${rate} facts/s`;
  const advice =
    before !== undefined && before.version !== version
      ? `; the tables were version ${before.version}: restart the projector with this version`
      : "";
  if (json !== true) {
    process.stdout.write(`${result}${previous === null ? "" : `; ${previous} kept`}${advice}\n`);
  }
  return { projection: name, version, position: Number(position), seconds, previous };
}

/** `op rollback [projection]` */
export function addRollback(program: Command): void {
  program
    .command("rollback")
    .description("restore the tables that the last rebuild replaced")
    .argument("[projection]", "default: all with previous tables")
    .action(async (name: string | undefined, { json }: JsonFlag, command: Command) => {
      await withDatabase(
        "rollback",
        async ({ db, config }) => {
          const all = configuredProjections(config);
          const named = chooseProjections(command, all, name === undefined ? [] : [name]);
          const outcomes: Outcome[] = [];
          for (const one of all.filter((projection) => named.includes(projection.name))) {
            outcomes.push(await rollBackOne(db, one));
          }
          const rolledBack = outcomes.flatMap((one) => (one.back === null ? [] : [one.back]));
          print(
            json,
            { rolledBack },
            outcomes.map(({ line }) => line),
          );
          if (!outcomes.some(({ isDone }) => isDone)) process.exitCode = 1;
        },
        { as: "projector" },
      );
    });
}

type Outcome = {
  /** Whether the tables from before the last rebuild are served: restored now, or by an earlier rollback. */
  isDone: boolean;
  back: { projection: string; version: number; position: number } | null;
  line: string;
};

async function rollBackOne(db: Database, projection: Projection): Promise<Outcome> {
  const { name } = projection;
  const restored = await rollBack(db, name, bindViews);
  if (restored === null) {
    const isDone = (await readCheckpoints(db)).has(shadowSchemas(name).replaced);
    return {
      isDone,
      back: null,
      line: `${name}: ${isDone ? "already rolled back" : "no previous tables"}`,
    };
  }
  const { version, position } = restored;
  const advice = isCurrent(restored, projection)
    ? "the projector catches up from there"
    : "run a projector of that version: the one of this version would rebuild it";
  return {
    isDone: true,
    back: { projection: name, version, position: Number(position) },
    line: `${name}: back to version ${version} at position ${position}; ${advice}`,
  };
}

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
