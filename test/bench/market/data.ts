import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { sql } from "kysely";
import { pino } from "pino";
import { startPostgres } from "#ops/postgres/embedded.ts";
import { migrate } from "#ops/postgres/migrate.ts";
import { startOrphanGuard } from "#ops/processes/child.ts";
import { deriveInBulk } from "#projections/engine/bulk.ts";
import {
  dropTarget,
  isCurrent,
  readCheckpoints,
  targetOf,
} from "#projections/engine/checkpoint.ts";
import type { Projection } from "#projections/engine/projection.ts";
import { dependsOn, runConcurrently } from "#projections/engine/run-concurrently.ts";
import { type Database, openDatabase } from "#projections/log/database.ts";
import { schemaOf } from "#projections/log/versions.ts";
import { rankCollection } from "#projections/traits/rank-collection.ts";
import { readOutdatedRankings } from "#projections/traits/read-outdated-rankings.ts";
import { projections, timed } from "../server.ts";
import { sizeOf } from "./collections.ts";
import { appendMarket } from "./facts.ts";

type MarketOptions = {
  /** Size as a share of the full market. */
  scale: number;
  /** Data directory to reuse in the next run; null: a temporary one. */
  directory: string | null;
};

/** Runs `work` on a PostgreSQL with production settings and a market, which is generated if absent. */
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
      await createMarket(db, scale);
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

/** A shutdown after a bulk load writes its data to disk. */
const STOP_MS = 120_000;

/** Generates the market where it is absent, and derives what is missing. */
export async function createMarket(db: Database, scale: number): Promise<void> {
  await migrate(db);
  await sql`create schema if not exists bench`.execute(db);
  await sql`create table if not exists bench.appended (scale float8)`.execute(db);
  const { rows } = await sql<{ scale: number }>`select scale from bench.appended`.execute(db);
  if (rows[0] !== undefined && rows[0].scale !== scale) {
    throw new Error(`the data are of scale ${rows[0].scale}, not ${scale}`);
  }
  if (rows[0] === undefined) {
    const until = new Date(Math.floor(Date.now() / 3_600_000) * 3_600_000);
    await reportStep("facts", () => appendMarket(db, sizeOf(scale), until));
    await sql`insert into bench.appended values (${scale})`.execute(db);
  }
  await deriveMissing(db);
}

/** Derives projections without tables or with tables of another version, as the projector does at its start. */
async function deriveMissing(db: Database): Promise<void> {
  const checkpoints = await readCheckpoints(db);
  const missing = projections.filter((projection) => {
    const checkpoint = checkpoints.get(schemaOf(projection.name));
    return checkpoint === undefined || !isCurrent(checkpoint, projection);
  });
  if (missing.length === 0) return;
  const one = async (projection: Projection) => {
    await dropTarget(db, schemaOf(projection.name));
    await reportStep(projection.name, () => deriveInBulk(db, targetOf(projection)));
  };
  await runConcurrently(missing, one, dependsOn);
  await reportStep("rankings", async () => {
    for (const { collectionId } of await readOutdatedRankings(db)) {
      await rankCollection(db, collectionId);
    }
  });
  await reportStep("vacuum", () => sql`vacuum analyze`.execute(db));
  await sql`checkpoint`.execute(db);
}

/** Generating a large market takes minutes: prints each step's duration on standard error. */
export async function reportStep(step: string, work: () => Promise<unknown>): Promise<void> {
  const ms = await timed(work);
  process.stderr.write(`${step}: ${(ms / 1_000).toFixed(1)} s\n`);
}
