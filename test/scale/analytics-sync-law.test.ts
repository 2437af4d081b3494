import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  type EngineName,
  type EnginePlaces,
  placeOf,
  syncEngine,
} from "../../api/background/analytics/engines.ts";
import type { Target } from "../../projections/engine/checkpoint.ts";
import { priceTicked } from "../../projections/facts/price-ticked.ts";
import { appendObservations } from "../../projections/log/append.ts";
import { makeHistory } from "../simulation/history.ts";
import { carryOut } from "../simulation/play.ts";
import { randomFrom } from "../simulation/random.ts";
import { orderedSteps } from "../simulation/script.ts";
import {
  clickhouseEngine,
  duckdbEngine,
  type Engine,
  postgresEngine,
  readAnswers,
  readCopy,
} from "../support/database/analytics-engines.ts";
import { type Clickhouse, startClickhouse } from "../support/database/clickhouse.ts";
import { project } from "../support/database/given.ts";
import {
  apes,
  appendOrders,
  appendTrades,
  environmentOf,
  prepare,
  retractBlocks,
} from "../support/database/operator.ts";
import { createDatabase, type TestDatabase } from "../support/database/postgres.ts";
import { startOp } from "../support/processes/op.ts";

const kills = 100;
const reorgs = 20;

let database: TestDatabase;
let targets: Target[];
let folder: string;
let clickhouse: Clickhouse;
let places: EnginePlaces;
beforeAll(async () => {
  database = await createDatabase({ template: "projected" });
  folder = await mkdtemp(join(tmpdir(), "analytics-law-"));
  clickhouse = await startClickhouse(join(folder, "clickhouse"));
  places = { clickhouseUrl: clickhouse.url, duckdbFile: join(folder, "copy.duckdb") };
  targets = await prepare(database.db);
});
afterAll(async () => {
  await clickhouse?.kill();
  await rm(folder, { recursive: true, force: true });
  await database?.drop();
});

const syncOf = (engine: EngineName) =>
  syncEngine({
    engine,
    place: placeOf(engine, places) ?? "",
    db: database.db,
    readUrl: database.url,
  });

/** A sync by the operator's command, whose process is killed. */
async function killCommand(engine: EngineName, ms: number): Promise<boolean> {
  const environment = {
    ...environmentOf(database.url),
    ANALYTICS_CLICKHOUSE_URL: places.clickhouseUrl ?? "",
    ANALYTICS_DUCKDB_FILE: places.duckdbFile ?? "",
  };
  const child = startOp(environment, ["analytics", "sync", "--to", engine]);
  const gone = once(child, "exit");
  // The process first loads its program.
  await Promise.race([gone, delay(500 + ms)]);
  const isRunning = child.exitCode === null;
  child.kill("SIGKILL");
  await gone;
  return isRunning;
}

/** A sync during which something it depends on goes away. */
async function syncDuring(engine: EngineName, ms: number, kill: () => Promise<unknown>) {
  const syncing = syncOf(engine).then(
    () => false,
    () => true,
  );
  await Promise.race([syncing, delay(ms)]);
  await kill();
  return await syncing;
}

const killReader = () =>
  sql`
    select pg_terminate_backend(pid) from pg_stat_activity
    where application_name = 'analytics sync' and datname = current_database()`.execute(
    database.db,
  );

/** Kills the server; it is started again when the sync has ended. */
async function killServer(engine: EngineName, ms: number): Promise<boolean> {
  const failed = await syncDuring(engine, ms, clickhouse.kill);
  await clickhouse.start();
  return failed;
}

const victims: Record<EngineName, ((engine: EngineName, ms: number) => Promise<boolean>)[]> = {
  clickhouse: [killCommand, killServer, (engine, ms) => syncDuring(engine, ms, killReader)],
  duckdb: [killCommand, (engine, ms) => syncDuring(engine, ms, killReader)],
};
const engines: Record<EngineName, () => Engine> = {
  clickhouse: () => clickhouseEngine(clickhouse.url),
  duckdb: () => duckdbEngine(places.duckdbFile ?? ""),
};

/** Trades and orders, a price now and then, and the reorgs. */
async function goOn(kill: number, number: number): Promise<void> {
  const { db } = database;
  await appendTrades(db, number, number);
  if (kill % 10 === 0) await appendOrders(db, number, number);
  if (kill % (kills / reorgs) === 4) await retractBlocks(db, number - 1, number - 3);
  if (kill % 10 === 5) {
    const minuteMs = 1_700_000_040_000 + 60_000 * number;
    const tick = { coin: "ethereum", minuteMs, priceE8: 2_000_00000000n, sources: [] } as const;
    await appendObservations(db, [priceTicked(tick)]);
  }
  await project(db, targets);
}

/** Milliseconds of a sync that nothing ends, after which the copy is as it should be. */
async function syncAndCompare(engine: EngineName): Promise<number> {
  const started = performance.now();
  await syncOf(engine);
  const ms = Math.ceil(performance.now() - started);
  const held = await readCopy(postgresEngine(database.url));
  expect(await readCopy(engines[engine]())).toEqual(held);
  return ms;
}

/** How many kills met a sync: others came before it began or after it had ended. */
async function playWithKills(engine: EngineName): Promise<number> {
  const random = randomFrom(engine === "duckdb" ? 221 : 222);
  const steps = orderedSteps(random, makeHistory(random, { turns: 30, reorgDepth: 20 }));
  const perKill = Math.ceil(steps.length / kills);
  const base = engine === "duckdb" ? 10_000 : 20_000;
  let hits = 0;
  let durationMs = 2_000;
  for (let kill = 0; kill < kills; kill += 1) {
    for (const step of steps.splice(0, perKill)) await carryOut(database.db, step);
    await goOn(kill, base + kill);
    const end = random.pick(victims[engine]);
    if (await end(engine, random.int(0, durationMs))) hits += 1;
    if (kill % 10 === 9) durationMs = await syncAndCompare(engine);
  }
  return hits;
}

describe.each(["duckdb", "clickhouse"] as const)("a copy in %s", (engine) => {
  it(`equals the projections at the same position, after ${kills} kills of either side and ${reorgs} reorgs, and gives the nine answers`, async () => {
    const hits = await playWithKills(engine);
    const asked = { chainId: 1, contract: apes, now: "2023-11-15 12:00:00" };
    const answers = await readAnswers(postgresEngine(database.url), asked);
    expect(await readAnswers(engines[engine](), asked)).toEqual(answers);
    expect(answers.filter((rows) => rows.length > 0).length).toBeGreaterThanOrEqual(6);
    expect(hits).toBeGreaterThan(kills / 4);
  });
});
