import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { EngineName } from "../../../api/background/analytics/engines.ts";
import { type Target, targetOf } from "../../../projections/engine/checkpoint.ts";
import { mainCell } from "../../../projections/log/cells/main-cell.ts";
import { makeHistory } from "../../simulation/history.ts";
import { carryOut } from "../../simulation/play.ts";
import { randomFrom } from "../../simulation/random.ts";
import { orderedSteps, type Step } from "../../simulation/script.ts";
import {
  type CopiedCell,
  readHeld,
  readServed,
  stepIn,
} from "../../support/database/analytics-cells.ts";
import { type Clickhouse, startClickhouse } from "../../support/database/clickhouse.ts";
import { project } from "../../support/database/given.ts";
import { prepare, projections } from "../../support/database/operator.ts";
import { createDatabase, type TestDatabase } from "../../support/database/postgres.ts";
import { openSyncKills } from "../../support/database/sync-kills.ts";

const kills = 12;
const targets: Target[] = projections.map(targetOf);

let databases: TestDatabase[] = [];
let cells: [CopiedCell, CopiedCell];
let folder: string;
let clickhouse: Clickhouse;
let syncs: ReturnType<typeof openSyncKills>;
beforeAll(async () => {
  databases = await Promise.all([0, 1].map(() => createDatabase({ template: "projected" })));
  for (const { db } of databases) await prepare(db);
  const [first, second] = databases as [TestDatabase, TestDatabase];
  cells = [
    { name: mainCell, database: first, serves: [1] },
    { name: "33139", database: second, serves: [33139] },
  ];
  folder = await mkdtemp(join(tmpdir(), "analytics-cells-law-"));
  clickhouse = await startClickhouse(join(folder, "clickhouse"));
  syncs = openSyncKills({ clickhouse, duckdbFile: join(folder, "copy.duckdb"), cells });
});
afterAll(async () => {
  await clickhouse?.kill();
  await rm(folder, { recursive: true, force: true });
  await Promise.all(databases.map((database) => database.drop()));
});

/** The same history in each cell as far as it is about the cell's chains. */
async function play(steps: readonly Step[]): Promise<void> {
  for (const one of cells) {
    for (const step of steps) await carryOut(one.database.db, stepIn(one, step));
    await project(one.database.db, targets);
  }
}

/** Milliseconds of a cell's sync that nothing ends, after which the copy is as it should be. */
async function syncAndCompare(engine: EngineName): Promise<number> {
  const started = performance.now();
  for (const one of cells) await syncs.sync(engine, one);
  const ms = Math.ceil((performance.now() - started) / cells.length);
  expect(await readHeld(syncs.engineOf(engine))).toEqual(await readServed(cells));
  return ms;
}

/** How many kills met a sync. */
async function playWithKills(engine: EngineName): Promise<number> {
  const random = randomFrom(engine === "duckdb" ? 223 : 224);
  const steps = orderedSteps(random, makeHistory(random, { turns: 16, reorgDepth: 10 }));
  const perKill = Math.ceil(steps.length / kills);
  let hits = 0;
  let durationMs = 2_000;
  for (let kill = 0; kill < kills; kill += 1) {
    await play(steps.splice(0, perKill));
    const end = random.pick(syncs.kills[engine]);
    if (await end(engine, random.int(0, durationMs), random.pick(cells))) hits += 1;
    if (kill % 4 === 3) durationMs = await syncAndCompare(engine);
  }
  return hits;
}

describe.each(["duckdb", "clickhouse"] as const)("one copy of two databases in %s", (engine) => {
  it("has each chain's facts and rows once, after kills of either side and reorgs", async () => {
    expect(await playWithKills(engine)).toBeGreaterThan(kills / 4);
  });

  it("has the other database's as they were when one is copied anew", async () => {
    const [first, second] = cells;
    const before = await readHeld(syncs.engineOf(engine));
    const anew = await syncs.sync(engine, second, { isAnew: true });
    expect(anew.facts).toBeGreaterThan(0n);
    expect(await readHeld(syncs.engineOf(engine))).toEqual(before);
    expect((await syncs.sync(engine, first)).facts).toBe(0n);
  });
});
