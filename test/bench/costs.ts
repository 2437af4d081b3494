import { sql } from "kysely";
import { deriveInBulk } from "#projections/engine/bulk.ts";
import { dropTarget, type Target, targetOf } from "#projections/engine/checkpoint.ts";
import { tick } from "#projections/engine/tick.ts";
import type { Database } from "#projections/log/database.ts";
import { schemaOf } from "#projections/log/versions.ts";
import { createProjection } from "../support/database/given.ts";
import { appendListed } from "./book.ts";
import { appendRange, makeEvents } from "./facts.ts";
import { type Figure, medianFigure } from "./figure.ts";
import { findPostmaster, processorMs } from "./ponder/processor.ts";
import { projections, withDatabase } from "./server.ts";

const MILLION = 1_000_000;
const WINDOW = 10_000;
/** Orders and ticks cost more each than facts in bulk: a quarter of as many is measured. */
const SHARE = 4;

/** What each part costs per million facts or orders: CPU time, write-ahead log and disk. */
export async function run({ facts }: { facts: number }): Promise<Figure[]> {
  return [...(await costsOfFacts(facts)), ...(await costsOfOrders(Math.ceil(facts / SHARE)))];
}

async function costsOfFacts(facts: number): Promise<Figure[]> {
  return await withDatabase(async (db) => {
    await makeEvents(db, { facts });
    const meter = await openMeter(db);
    const figures = await meter("the log, append", facts, () => appendRange(db, 0, facts));
    await sql`vacuum analyze log.fact, log.block, log.transaction, log.contract`.execute(db);
    for (const projection of projections) {
      const { name } = projection;
      const derive = () => deriveInBulk(db, targetOf(projection));
      figures.push(...(await meter(`${name}, rebuild`, facts, derive)));
    }
    for (const { name } of projections) await dropTarget(db, schemaOf(name));
    const applied = Math.ceil(facts / SHARE);
    figures.push(...(await meter("all projections, ticks", applied, () => applyAll(db, applied))));
    return figures;
  });
}

async function applyAll(db: Database, facts: number): Promise<void> {
  const targets: Target[] = [];
  for (const projection of projections) targets.push(await createProjection(db, projection));
  for (let after = 0; after < facts; after += WINDOW) await tick(db, targets, WINDOW);
}

async function costsOfOrders(orders: number): Promise<Figure[]> {
  return await withDatabase(async (db) => {
    const meter = await openMeter(db);
    const appended = await meter("a mint and its listing, append", orders, async () => {
      for (let from = 0; from < orders; from += WINDOW)
        await appendListed(db, from, Math.min(from + WINDOW, orders));
    });
    await sql`vacuum analyze log.fact, log.block, log.transaction, log.contract`.execute(db);
    const targets: Target[] = [];
    for (const projection of projections) targets.push(await createProjection(db, projection));
    const applied = await meter("a mint and its listing, ticks", orders, async () => {
      for (let passed = 0; passed < 2.1 * orders; passed += WINDOW) await tick(db, targets, WINDOW);
    });
    return [...appended, ...applied];
  });
}

type Meter = (what: string, count: number, work: () => Promise<unknown>) => Promise<Figure[]>;

/** Measures the whole server, with its background writers, and this process. */
async function openMeter(db: Database): Promise<Meter> {
  const postmaster = await findPostmaster(db);
  const read = async () => {
    const { rows } = await sql<{ wal: number; disk: number }>`
      select (pg_current_wal_insert_lsn() - '0/0')::float8 as wal,
             pg_database_size(current_database())::float8 as disk`.execute(db);
    const { wal = 0, disk = 0 } = rows[0] ?? {};
    const own = process.cpuUsage();
    return { wal, disk, server: processorMs(postmaster), own: (own.user + own.system) / 1_000 };
  };
  return async (what, count, work) => {
    await sql`checkpoint`.execute(db);
    const before = await read();
    await work();
    await sql`checkpoint`.execute(db);
    const after = await read();
    const perMillion = (name: keyof typeof before, unit: number) => [
      (((after[name] - before[name]) / unit) * MILLION) / count,
    ];
    const size = `per million, of ${count}`;
    const of = (part: string) => `${what}: ${part}`;
    return [
      medianFigure(of("CPU of PostgreSQL"), perMillion("server", 1_000), { unit: "s" }, size),
      medianFigure(of("CPU of Node"), perMillion("own", 1_000), { unit: "s" }, size),
      medianFigure(of("write-ahead log"), perMillion("wal", 2 ** 20), { unit: "MB" }, size),
      medianFigure(of("disk"), perMillion("disk", 2 ** 20), { unit: "MB" }, size),
    ];
  };
}
