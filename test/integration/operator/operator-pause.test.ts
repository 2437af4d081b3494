import { setTimeout as delay } from "node:timers/promises";
import { pino } from "pino";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { projecting } from "#jobs/recording/project.ts";
import { recording } from "#jobs/recording/record.ts";
import { runJobs } from "#jobs/runner/run-jobs.ts";
import { createSignal } from "#jobs/runner/signals.ts";
import { activateSchema } from "#ops/ponder/ponder-schema.ts";
import { readCheckpoints, type Target } from "#projections/engine/checkpoint.ts";
import { readLogHead } from "#projections/log/blocks.ts";
import { schemaOf } from "#projections/log/versions.ts";
import { appendTrades, operate, prepare } from "#test/support/database/operator.ts";
import { createDatabase, type TestDatabase } from "#test/support/database/postgres.ts";

const logger = pino({ level: "silent" });

let database: TestDatabase;
let targets: Target[];
const ending = new AbortController();
const work: Promise<void>[] = [];
let passes = 0;
beforeAll(async () => {
  database = await createDatabase({ template: "projected" });
  const { db } = database;
  targets = await prepare(db);
  await activateSchema(db, { chainId: 1, indexer: "core" }, "ponder_without_tables");
  const common = { db, logger, holds: async () => true };
  const jobs = [
    projecting({ ...common, targets, changeSignal: createSignal(), onTick: () => {} }),
    ...recording({
      ...common,
      changeSignal: createSignal(),
      recording: {
        chainId: 1,
        indexer: "core",
        canonicalHashes: async () => new Map(),
        fence: async () => {},
        onSchema: async () => {
          passes += 1;
        },
      },
      finalityBlocks: 1,
      onAppended: () => {},
    }),
  ];
  work.push(runJobs(jobs, { logger, signal: ending.signal }));
});
afterAll(async () => {
  ending.abort();
  await Promise.all(work);
  await database.drop();
});

async function lag(): Promise<bigint> {
  const stored = (await readCheckpoints(database.db)).get(schemaOf("ownership"));
  return (await readLogHead(database.db)) - (stored?.position ?? 0n);
}

const within = { timeout: 60_000, interval: 20 };

it("op pause projecting stops the projections within a second, and op resume lets them go on", async () => {
  const paused = await operate(database.url, "pause", "projecting", "--json");
  await delay(1_000);
  await appendTrades(database.db, 1, 2);
  await delay(1_000);
  const behind = await lag();
  const status = await operate(database.url, "status", "--json");
  const again = await operate(database.url, "pause", "projecting", "--json");
  const resumed = await operate(database.url, "resume", "projecting");

  expect(JSON.parse(paused.out)).toEqual({
    switches: [{ name: "projecting", isPaused: true, hasChanged: true }],
  });
  expect(behind).toBe(6n);
  expect(JSON.parse(status.out).paused).toEqual(["projecting"]);
  expect(JSON.parse(again.out).switches[0].hasChanged).toBe(false);
  expect([paused.code, again.code, resumed.code]).toEqual([0, 0, 0]);
  await vi.waitFor(async () => expect(await lag()).toBe(0n), within);
});

it("op pause recording stops the recorder within a second, and op resume lets it go on", async () => {
  await vi.waitFor(() => expect(passes).toBeGreaterThan(0), within);

  await operate(database.url, "pause", "recording");
  await delay(1_000);
  const before = passes;
  await delay(1_000);

  expect(passes).toBe(before);
  await operate(database.url, "resume", "recording");
  await vi.waitFor(() => expect(passes).toBeGreaterThan(before), within);
});

it("op pause of what cannot be paused makes no sense", async () => {
  expect((await operate(database.url, "pause", "everything")).code).toBe(2);
  expect((await operate(database.url, "pause")).code).toBe(2);
});
