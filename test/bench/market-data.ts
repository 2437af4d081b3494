import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { sql } from "kysely";
import { pino } from "pino";
import { startPostgres } from "../../api/run/postgres/embedded.ts";
import { startOrphanGuard } from "../../api/run/supervisor/orphan-guard.ts";
import { type Database, openDatabase } from "../../projections/database.ts";
import { deriveInBulk } from "../../projections/engine/bulk.ts";
import { dropTarget, isCurrent, readCheckpoints } from "../../projections/engine/checkpoint.ts";
import type { Projection } from "../../projections/engine/projection.ts";
import { dependsOn, runConcurrently } from "../../projections/engine/run-concurrently.ts";
import { migrate } from "../../projections/log/migrate.ts";
import { readOutdatedRankings } from "../../projections/reads/rarity/outdated-rankings.ts";
import { rankCollection } from "../../projections/reads/rarity/rank-collection.ts";
import { sizeOf } from "./market-collections.ts";
import { appendMarket } from "./market-facts.ts";
import { projections, timed } from "./server.ts";

type MarketOptions = {
  /** A share of the whole market. */
  scale: number;
  /** Where its data are kept for the next run; null: nowhere. */
  directory: string | null;
};

/** A PostgreSQL with production's settings that holds a market, made where it is not there yet, while `work` is done. */
export async function withMarket<Result>(
  { scale, directory }: MarketOptions,
  work: (db: Database, url: string) => Promise<Result>,
): Promise<Result> {
  const orphanGuard = startOrphanGuard();
  const dataDir = directory === null ? await mkdtemp(join(tmpdir(), "bench-")) : resolve(directory);
  await mkdir(dataDir, { recursive: true });
  try {
    const server = await startPostgres({
      dataDir,
      logger: pino({ level: "silent" }),
      onSpawn: (pid) => orphanGuard.add(pid, "SIGINT"),
    });
    const db = openDatabase({ url: server.url, applicationName: "bench", onIdleError: () => {} });
    try {
      await makeMarket(db, scale);
      return await work(db, server.url);
    } finally {
      await db.destroy();
      await server.stop(STOP_MS);
    }
  } finally {
    orphanGuard.killAll();
    if (directory === null) await rm(dataDir, { recursive: true, force: true });
  }
}

/** A shutdown writes all that a bulk load has left in memory. */
const STOP_MS = 120_000;

async function makeMarket(db: Database, scale: number): Promise<void> {
  await migrate(db);
  await sql`create schema if not exists bench`.execute(db);
  await sql`create table if not exists bench.appended (scale float8)`.execute(db);
  const { rows } = await sql<{ scale: number }>`select scale from bench.appended`.execute(db);
  if (rows[0] !== undefined && rows[0].scale !== scale) {
    throw new Error(`the data are of scale ${rows[0].scale}, asked for is ${scale}`);
  }
  if (rows[0] === undefined) {
    const until = new Date(Math.floor(Date.now() / 3_600_000) * 3_600_000);
    await told("facts", () => appendMarket(db, sizeOf(scale), until));
    await sql`insert into bench.appended values (${scale})`.execute(db);
  }
  await deriveMissing(db);
}

/** What has no tables yet, or those of another version, as a projector's start derives it. */
async function deriveMissing(db: Database): Promise<void> {
  const made = await readCheckpoints(db);
  const missing = projections.filter((projection) => {
    const checkpoint = made.get(projection.name);
    return checkpoint === undefined || !isCurrent(checkpoint, projection);
  });
  if (missing.length === 0) return;
  const one = async (projection: Projection) => {
    await dropTarget(db, projection.name);
    await told(projection.name, () => deriveInBulk(db, { projection, schema: projection.name }));
  };
  await runConcurrently(missing, one, dependsOn);
  await told("rankings", async () => {
    for (const { collectionId } of await readOutdatedRankings(db)) {
      await rankCollection(db, collectionId);
    }
  });
  await told("vacuum", () => sql`vacuum analyze`.execute(db));
  await sql`checkpoint`.execute(db);
}

/** Making a large market takes minutes: each step is told on standard error. */
export async function told(step: string, work: () => Promise<unknown>): Promise<void> {
  const ms = await timed(work);
  process.stderr.write(`${step}: ${(ms / 1_000).toFixed(1)} s\n`);
}
