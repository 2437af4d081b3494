import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openClickhouseSink } from "#jobs/analytics/clickhouse-sink.ts";
import { sync } from "#jobs/analytics/sync.ts";
import { tick } from "#projections/engine/tick.ts";
import type { Database } from "#projections/log/database.ts";
import { startClickhouse } from "../support/database/clickhouse.ts";
import { installPackages } from "../support/processes/package-folder.ts";
import { appendRange, makeEvents } from "./facts.ts";
import { type Figure, medianFigure } from "./figure.ts";
import { deriveTargets, projections, timed, withDatabase } from "./server.ts";

/** Facts of a later sync: what a minute of a busy chain brings. */
const LATER = 2_000;
const SYNCS = 3;

/** The first copy of a log and its rows to ClickHouse, and later syncs. */
export async function run({ facts }: { facts: number }): Promise<Figure[]> {
  const folder = await mkdtemp(join(tmpdir(), "bench-analytics-"));
  installPackages("clickhouse");
  const clickhouse = await startClickhouse(join(folder, "clickhouse"));
  try {
    return await withDatabase((db, url) =>
      measure({ db, url, facts, clickhouseUrl: clickhouse.url }),
    );
  } finally {
    await clickhouse.kill();
    await rm(folder, { recursive: true, force: true });
  }
}

type Measured = { db: Database; url: string; facts: number; clickhouseUrl: string };

async function measure({ db, url, facts, clickhouseUrl }: Measured): Promise<Figure[]> {
  await makeEvents(db, { facts: facts + SYNCS * LATER });
  await appendRange(db, 0, facts);
  const targets = await deriveTargets(db, projections);
  const { ms, cpuMs } = await syncOnce(url, clickhouseUrl);
  const size = `${facts} mixed facts with all rows, the engine on the same machine`;
  // Sixty seconds for two million.
  const goal = { unit: "ms", atMost: (60_000 * facts) / 2_000_000 } as const;
  const figure = "analytics-sync, first";
  const first = [
    medianFigure(figure, [ms], goal, size),
    medianFigure(`${figure}, processor`, [cpuMs], { unit: "ms" }, size),
  ];
  const later: number[] = [];
  for (let round = 0; round < SYNCS; round += 1) {
    await appendRange(db, facts + round * LATER, facts + (round + 1) * LATER);
    while ((await tick(db, targets)).outcome === "moved");
    later.push((await syncOnce(url, clickhouseUrl)).ms);
  }
  const laterSize = `${LATER} facts more than ${facts}`;
  return [...first, medianFigure("analytics-sync, later", later, { unit: "ms" }, laterSize)];
}

/** Milliseconds, and those of this process's processor time: ClickHouse does not work in it. */
async function syncOnce(url: string, clickhouseUrl: string) {
  const sink = openClickhouseSink(clickhouseUrl);
  const started = process.cpuUsage();
  const ms = await timed(() => sync(url, sink));
  const { user, system } = process.cpuUsage(started);
  await sink.close();
  return { ms, cpuMs: (user + system) / 1e3 };
}
