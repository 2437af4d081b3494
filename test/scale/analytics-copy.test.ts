import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openClickhouseSink } from "#jobs/analytics/clickhouse-sink.ts";
import { sync } from "#jobs/analytics/sync.ts";
import { bindViews } from "#projections/analytics/bind-views.ts";
import type { Target } from "#projections/engine/checkpoint.ts";
import { rebuild } from "#projections/engine/rebuild.ts";
import { appendObservations } from "#projections/log/append.ts";
import { priceTicked } from "#projections/prices/coin-prices.ts";
import { makeHistory } from "../simulation/history.ts";
import { carryOut } from "../simulation/play.ts";
import { randomFrom } from "../simulation/random.ts";
import { orderedSteps } from "../simulation/script.ts";
import {
  canonicalRows,
  clickhouseEngine,
  postgresEngine,
  readAnswers,
  readCopy,
} from "../support/database/analytics-engines.ts";
import { type Clickhouse, startClickhouse } from "../support/database/clickhouse.ts";
import { project } from "../support/database/given.ts";
import { interrupting } from "../support/database/interrupted-sink.ts";
import {
  apes,
  appendOrders,
  appendTrades,
  environmentOf,
  prepare,
  projections,
  retractBlocks,
} from "../support/database/operator.ts";
import { createDatabase, type TestDatabase } from "../support/database/postgres.ts";
import { runOp } from "../support/processes/op.ts";

let database: TestDatabase;
let targets: Target[];
let folder: string;
let clickhouse: Clickhouse;
beforeAll(async () => {
  database = await createDatabase({ template: "projected" });
  folder = await mkdtemp(join(tmpdir(), "analytics-"));
  clickhouse = await startClickhouse(join(folder, "clickhouse"));
  targets = await prepare(database.db);
});
afterAll(async () => {
  await clickhouse?.kill();
  await rm(folder, { recursive: true, force: true });
  await database?.drop();
});

/** One sync as a process makes it: the connection is opened and closed. `dies`: at a step of it. */
async function syncOnce(dies: (step: string) => boolean = () => false) {
  const sink = openClickhouseSink(clickhouse.url);
  try {
    return await sync(database.url, interrupting(sink, dies));
  } finally {
    await sink.close();
  }
}

const copies = async () => [
  await readCopy(postgresEngine(database.url)),
  await readCopy(clickhouseEngine(clickhouse.url)),
];

describe("a copy in ClickHouse", () => {
  it("equals the projections at the same position, through random histories with reorgs and syncs that die at any step", async () => {
    const random = randomFrom(22);
    const steps = orderedSteps(random, makeHistory(random, { turns: 12, reorgDepth: 6 }));
    const syncEvery = Math.ceil(steps.length / 6);
    let deaths = 0;
    for (const [index, step] of steps.entries()) {
      await carryOut(database.db, step);
      if ((index + 1) % syncEvery !== 0 && index + 1 < steps.length) continue;
      await project(database.db, targets);
      let left = random.int(0, 12);
      await syncOnce(() => left-- === 0).catch(() => {
        deaths += 1;
      });
      await syncOnce();
      const [held, copied] = await copies();
      expect(copied).toEqual(held);
    }
    expect(deaths).toBeGreaterThan(1);
  });

  it("has nothing to do where nothing changed, and follows a rebuild", async () => {
    expect(await syncOnce()).toMatchObject({ facts: 0n, replacedParts: 0 });
    const [sales] = projections;
    if (sales === undefined) throw new Error("no projection");
    await rebuild(database.db, sales, () => {}, bindViews);

    expect((await syncOnce()).replacedParts).toBe(1);
    const [held, copied] = await copies();
    expect(copied).toEqual(held);
  });

  it("gives the analysts' nine answers", async () => {
    const minuteMs = 1_700_000_040_000;
    const tick = { coin: "ethereum", minuteMs, priceE8: 2_000_00000000n, sources: [] } as const;
    await appendTrades(database.db, 1_001, 1_020);
    await appendOrders(database.db, 1_010, 1_020);
    await appendObservations(database.db, [priceTicked(tick)]);
    await retractBlocks(database.db, 1_003, 1_004);
    await project(database.db, targets);
    await syncOnce();

    const asked = { chainId: 1, contract: apes, now: "2023-11-15 12:00:00" };
    const answers = await readAnswers(postgresEngine(database.url), asked);

    expect(answers.length).toBe(9);
    expect(answers.filter((rows) => rows.length > 0).length).toBeGreaterThanOrEqual(6);
    expect(await readAnswers(clickhouseEngine(clickhouse.url), asked)).toEqual(answers);
  });

  it("knows which facts are effective at any position", async () => {
    const effective = (p: bigint) => `
      select position from log.fact f where position <= ${p} and kind not in (1, 2)
        and not exists (select from log.retracted_blocks(${p}) r where r.block_id = f.block_id)`;
    const { position } = await syncOnce();
    for (const part of [1n, 3n, 5n, 7n, 8n]) {
      const upTo = (position * part) / 8n;
      const held = await postgresEngine(database.url).asking((ask) => ask(effective(upTo)));
      const copied = await clickhouseEngine(clickhouse.url).asking((ask) =>
        ask(`select position from facts_at(upto = ${upTo})`),
      );
      expect(canonicalRows(copied)).toEqual(canonicalRows(held));
    }
  });

  it("of another log is refused, and copied anew when asked to", async () => {
    const other = await createDatabase({ template: "projected" });
    try {
      await prepare(other.db);
      const sink = openClickhouseSink(clickhouse.url);
      await expect(sync(other.url, sink)).rejects.toThrow("op analytics sync --anew");
      await sync(other.url, sink, { isAnew: true });
      await sink.close();
      expect(await readCopy(clickhouseEngine(clickhouse.url))).toEqual(
        await readCopy(postgresEngine(other.url)),
      );
    } finally {
      await other.drop();
    }
  });

  it("is made by the operator's command at the place of the settings, and its status says how far it is", async () => {
    const environment = {
      ...environmentOf(database.url),
      ANALYTICS_CLICKHOUSE_URL: clickhouse.url,
    };
    const done = await runOp(environment, "analytics", "sync", "--anew", "--json");
    expect(done.code).toBe(0);
    const { position } = JSON.parse(done.stdout);
    const status = await runOp(environment, "analytics", "status", "--json");
    expect(JSON.parse(status.stdout)).toEqual({
      ...{ position, behind: "0", syncedAt: expect.anything(), failedAt: null, error: null },
    });
  });
});
