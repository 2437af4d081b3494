import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Target } from "#projections/engine/checkpoint.ts";
import { appendObservations } from "#projections/log/append.ts";
import { priceTicked } from "#projections/prices/coin-prices.ts";
import { makeHistory } from "../simulation/history.ts";
import { carryOut } from "../simulation/play.ts";
import { randomFrom } from "../simulation/random.ts";
import { orderedSteps } from "../simulation/script.ts";
import {
  clickhouseEngine,
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
  prepare,
  retractBlocks,
} from "../support/database/operator.ts";
import { createDatabase, type TestDatabase } from "../support/database/postgres.ts";
import { openSyncKills } from "../support/database/sync-kills.ts";

const kills = 100;
const reorgs = 20;

let database: TestDatabase;
let targets: Target[];
let folder: string;
let clickhouse: Clickhouse;
let syncs: ReturnType<typeof openSyncKills>;
beforeAll(async () => {
  database = await createDatabase({ template: "projected" });
  folder = await mkdtemp(join(tmpdir(), "analytics-law-"));
  clickhouse = await startClickhouse(join(folder, "clickhouse"));
  syncs = openSyncKills(database, clickhouse);
  targets = await prepare(database.db);
});
afterAll(async () => {
  await clickhouse?.kill();
  await rm(folder, { recursive: true, force: true });
  await database?.drop();
});

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
async function syncAndCompare(): Promise<number> {
  const started = performance.now();
  await syncs.sync();
  const ms = Math.ceil(performance.now() - started);
  const held = await readCopy(postgresEngine(database.url));
  expect(await readCopy(clickhouseEngine(clickhouse.url))).toEqual(held);
  return ms;
}

/** How many kills met a sync: others came before it began or after it had ended. */
async function playWithKills(): Promise<number> {
  const random = randomFrom(222);
  const steps = orderedSteps(random, makeHistory(random, { turns: 30, reorgDepth: 20 }));
  const perKill = Math.ceil(steps.length / kills);
  let hits = 0;
  let durationMs = 2_000;
  for (let kill = 0; kill < kills; kill += 1) {
    for (const step of steps.splice(0, perKill)) await carryOut(database.db, step);
    await goOn(kill, 20_000 + kill);
    const end = random.pick(syncs.kills);
    if (await end(random.int(0, durationMs))) hits += 1;
    if (kill % 10 === 9) durationMs = await syncAndCompare();
  }
  return hits;
}

it(`a copy equals the projections at the same position, after ${kills} kills of either side and ${reorgs} reorgs, and gives the nine answers`, async () => {
  const hits = await playWithKills();
  const asked = { chainId: 1, contract: apes, now: "2023-11-15 12:00:00" };
  const answers = await readAnswers(postgresEngine(database.url), asked);
  expect(await readAnswers(clickhouseEngine(clickhouse.url), asked)).toEqual(answers);
  expect(answers.filter((rows) => rows.length > 0).length).toBeGreaterThanOrEqual(6);
  expect(hits).toBeGreaterThan(kills / 4);
});
