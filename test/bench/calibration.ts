import { open, rm } from "node:fs/promises";
import { sql } from "kysely";
import type { Database } from "#projections/log/database.ts";
import { type Figure, medianFigure } from "./figure.ts";
import { serverFile, timed, withDatabase } from "./server.ts";

const LOOPS = 20_000_000;
const ROWS = 100_000;
const REPEATS = 5;
const SMALL_REPEATS = 100;
const PAGE = Buffer.alloc(8192, 1);

/** How fast the machine is now, by work that no change of ours alters. */
export type Calibration = {
  figures: Figure[];
  /** Milliseconds of the processor loop: durations are multiples of it. */
  loopMs: number;
  /** Rows per second of the COPY: rates are parts of it. */
  copiedPerSecond: number;
};

export async function calibrate(): Promise<Calibration> {
  const loop = await repeat(REPEATS, async () => runLoop());
  const { copies, trips, syncs } = await withDatabase(async (db) => ({
    copies: await copyRows(db),
    trips: await repeat(SMALL_REPEATS, () => sql`select 1`.execute(db)),
    syncs: await syncPages(db),
  }));
  const rates = copies.map((ms) => ROWS / (ms / 1000));
  const ms = { unit: "ms" } as const;
  const [ofLoop, ofCopy] = [
    medianFigure("calibration, processor loop", loop, ms, `${LOOPS} steps`),
    medianFigure(
      "calibration, COPY into a bare table",
      rates,
      { unit: "facts/s" },
      `${ROWS} rows of 100 B`,
    ),
  ];
  return {
    figures: [
      ofLoop,
      ofCopy,
      medianFigure("calibration, round trip to PostgreSQL", trips, ms, "select 1"),
      medianFigure("calibration, fsync", syncs, ms, "8 kB beside the database"),
    ],
    loopMs: ofLoop.value,
    copiedPerSecond: ofCopy.value,
  };
}

/** A time as a multiple of the processor loop, a rate as a part of COPY's; null for all else. */
export function calibrated({ unit, value }: Figure, calibration: Calibration): number | null {
  if (unit === "ms") return rounded(value / calibration.loopMs);
  return unit === "facts/s" ? rounded(value / calibration.copiedPerSecond) : null;
}

const rounded = (value: number): number => Number(value.toPrecision(3));

async function repeat(times: number, work: () => Promise<unknown>): Promise<number[]> {
  const durationsMs: number[] = [];
  for (let time = 0; time < times; time += 1) durationsMs.push(await timed(work));
  return durationsMs;
}

/** Integer arithmetic whose result the next step needs (xorshift). Returns it, so that the loop is not optimized away. */
function runLoop(): number {
  let state = 1;
  for (let step = 0; step < LOOPS; step += 1) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
  }
  return state;
}

async function copyRows(db: Database): Promise<number[]> {
  const path = sql.lit(await serverFile(db, "calibration"));
  await sql`
    copy (select n, repeat('x', 92) from generate_series(1::bigint, ${sql.lit(ROWS)}) n) to ${path}
  `.execute(db);
  await sql`create table calibration (n bigint, filler text)`.execute(db);
  return await repeat(REPEATS, () => sql`copy calibration from ${path}`.execute(db));
}

async function syncPages(db: Database): Promise<number[]> {
  const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(db);
  // A server process works in the data directory, whose path may be one that is another in each process.
  const path = `/proc/${rows[0]?.pid}/cwd/calibration-sync`;
  const file = await open(path, "w");
  try {
    return await repeat(SMALL_REPEATS, async () => {
      await file.write(PAGE, 0, PAGE.length, 0);
      await file.sync();
    });
  } finally {
    await file.close();
    await rm(path);
  }
}
