import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openClickhouseSink } from "../../api/background/analytics/clickhouse/clickhouse-sink.ts";
import { openDuckdb } from "../../api/background/analytics/duckdb/duckdb-sink.ts";
import type { Sink } from "../../api/background/analytics/sink.ts";
import { sync } from "../../api/background/analytics/sync.ts";
import { mainCell } from "../../api/background/analytics/views.ts";
import type { Database } from "../../projections/database.ts";
import { tick } from "../../projections/engine/tick.ts";
import { installClickhouse, startClickhouse } from "../support/database/clickhouse.ts";
import { appendRange, makeEvents } from "./facts.ts";
import { type Figure, medianFigure } from "./figure.ts";
import { deriveTargets, projections, timed, withDatabase } from "./server.ts";

/** Facts of a later sync: what a minute of a busy chain brings. */
const LATER = 2_000;
const SYNCS = 3;

/** The first copy of a log and its rows to each engine, and later syncs. */
export async function run({ facts }: { facts: number }): Promise<Figure[]> {
  const folder = await mkdtemp(join(tmpdir(), "bench-analytics-"));
  installClickhouse();
  const clickhouse = await startClickhouse(join(folder, "clickhouse"));
  const engines: Record<string, () => Promise<Sink>> = {
    DuckDB: () => openDuckdb(join(folder, "copy.duckdb"), mainCell),
    ClickHouse: async () => openClickhouseSink(clickhouse.url, mainCell),
  };
  try {
    return await withDatabase((db, url) => measure({ db, url, facts, engines }));
  } finally {
    await clickhouse.kill();
    await rm(folder, { recursive: true, force: true });
  }
}

type Measured = {
  db: Database;
  url: string;
  facts: number;
  engines: Record<string, () => Promise<Sink>>;
};

async function measure({ db, url, facts, engines }: Measured): Promise<Figure[]> {
  await makeEvents(db, { facts: facts + SYNCS * LATER });
  await appendRange(db, 0, facts);
  const targets = await deriveTargets(db, projections);
  const figures: Figure[] = [];
  for (const [name, open] of Object.entries(engines)) {
    const { ms, cpuMs } = await syncOnce(url, open);
    const size = `${facts} mixed facts with all rows, the engine on the same machine`;
    // Sixty seconds for two million.
    const goal = { unit: "ms", atMost: (60_000 * facts) / 2_000_000 } as const;
    const figure = `analytics-sync, first, ${name}`;
    figures.push(medianFigure(figure, [ms], goal, size));
    figures.push(medianFigure(`${figure}, processor`, [cpuMs], { unit: "ms" }, size));
  }
  const later = new Map<string, number[]>();
  for (let round = 0; round < SYNCS; round += 1) {
    await appendRange(db, facts + round * LATER, facts + (round + 1) * LATER);
    while ((await tick(db, targets)).outcome === "moved");
    for (const [name, open] of Object.entries(engines))
      later.set(name, [...(later.get(name) ?? []), (await syncOnce(url, open)).ms]);
  }
  const size = `${LATER} facts more than ${facts}`;
  for (const [name, ms] of later)
    figures.push(medianFigure(`analytics-sync, later, ${name}`, ms, { unit: "ms" }, size));
  return figures;
}

/** Milliseconds, and those of this process's processor time: DuckDB works in it, ClickHouse does not. */
async function syncOnce(url: string, open: () => Promise<Sink>) {
  const sink = await open();
  const started = process.cpuUsage();
  const ms = await timed(() => sync(url, sink));
  const { user, system } = process.cpuUsage(started);
  await sink.close();
  return { ms, cpuMs: (user + system) / 1e3 };
}
