import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { pino } from "pino";
import { startPostgres } from "#ops/postgres/embedded.ts";
import { migrate } from "#ops/postgres/migrate.ts";
import { startOrphanGuard } from "#ops/processes/child.ts";
import { allProjections } from "#projections/all.ts";
import { deriveInBulk } from "#projections/engine/bulk.ts";
import { dropTarget, type Target, targetOf } from "#projections/engine/checkpoint.ts";
import type { Projection } from "#projections/engine/projection.ts";
import { type Database, openDatabase } from "#projections/log/database.ts";
import { schemaOf } from "#projections/log/versions.ts";
import { appendRange, makeEvents } from "./facts.ts";
import type { Figure } from "./figure.ts";

/** Runs `work` on a migrated database of a durable PostgreSQL with production settings, `settings` over them. */
export async function withDatabase<Result>(
  work: (db: Database, url: string) => Promise<Result>,
  settings: Readonly<Record<string, string>> = {},
): Promise<Result> {
  const orphanGuard = startOrphanGuard();
  const directory = await mkdtemp(join(tmpdir(), "bench-"));
  try {
    const server = await startPostgres({
      dataDir: directory,
      logger: pino({ level: "silent" }),
      settings,
      onSpawn: (pid) => orphanGuard.add(pid, "SIGINT"),
    });
    const db = openDatabase({
      url: server.url,
      applicationName: "bench",
      prepares: true,
      pipelines: true,
      onIdleError: () => {},
    });
    try {
      await migrateDatabase(server.url);
      return await work(db, server.url);
    } finally {
      await db.destroy();
      await server.stop();
    }
  } finally {
    orphanGuard.killAll();
    await rm(directory, { recursive: true, force: true });
  }
}

/** Over a connection that prepares nothing: migrations are several statements each. */
export async function migrateDatabase(url: string): Promise<void> {
  const db = openDatabase({ url, applicationName: "bench", onIdleError: () => {} });
  await migrate(db).finally(() => db.destroy());
}

/** A large log is generated in parts, so that its events do not stand on the disk twice. */
const generatedAtOnce = 5_000_000;

/** The same with a log of `facts` facts, and `more` events that are not appended yet. */
export async function withLog<Result>(
  { facts, more = 0, factsInBlock }: { facts: number; more?: number; factsInBlock?: number },
  work: (db: Database) => Promise<Result>,
): Promise<Result> {
  return await withDatabase(async (db) => {
    for (let after = 0; after < facts; after += generatedAtOnce) {
      const upTo = Math.min(facts, after + generatedAtOnce);
      await makeEvents(db, {
        after,
        facts: upTo - after + (upTo === facts ? more : 0),
        ...(factsInBlock === undefined ? {} : { factsInBlock }),
      });
      await appendRange(db, after, upTo);
    }
    await sql`vacuum analyze log.fact, log.block, log.transaction, log.contract`.execute(db);
    await sql`checkpoint`.execute(db);
    return await work(db);
  });
}

export const projections = allProjections({
  feeRecipient: "0x00000000000000000000000000000000000fee00",
});

const reads = new Map(projections.map(({ name, reads = [] }) => [name, reads]));

/** The five projections of the goals for rebuild and catch-up, and those they read. */
const five = ["ownership", "sales", "listings", "collection_stats", "activity"];
const wanted = new Set(five.flatMap((name) => [name, ...(reads.get(name) ?? [])]));
const isOfFive = ({ name }: Projection): boolean => wanted.has(name);
/** The five with those they read, and all others. */
export const [theFive, theRest] = [
  projections.filter(isOfFive),
  projections.filter((one) => !isOfFive(one)),
];
export const ofFive = `${five.join(", ")} and what they read`;

export type Scope = { mark: string; of: string; chosen: readonly Projection[] };

/** Sets of projections that are measured: the five, then all. `mark` is added to a figure's name. */
export const scopes: readonly Scope[] = [
  { mark: "", of: ofFive, chosen: theFive },
  { mark: ", all", of: `${projections.length} projections`, chosen: projections },
];

/** Measures each scope in turn. */
export async function inScopes(
  measure: (scope: Scope, index: number) => Promise<Figure[]>,
): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const [index, scope] of scopes.entries()) figures.push(...(await measure(scope, index)));
  return figures;
}

/** Derives only the chosen projections, up to the log's head; each reads those before it with statistics, as a rebuild does. */
export async function deriveTargets(
  db: Database,
  chosen: readonly Projection[],
): Promise<Target[]> {
  for (const { name } of projections) await dropTarget(db, schemaOf(name));
  const targets = chosen.map(targetOf);
  for (const target of targets) {
    await deriveInBulk(db, target);
    await sql`analyze`.execute(db);
  }
  return targets;
}

/** Path of a file that the PostgreSQL server may write and read. */
export async function serverFile(db: Database, name: string): Promise<string> {
  const { rows } = await sql<{ path: string }>`
    select current_setting('data_directory') || '/' || ${name} as path`.execute(db);
  return rows[0]?.path ?? name;
}

/** Elapsed milliseconds of `work`. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}
