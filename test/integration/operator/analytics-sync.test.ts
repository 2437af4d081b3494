import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openDuckdb } from "../../../api/background/analytics/duckdb/duckdb-sink.ts";
import { sync } from "../../../api/background/analytics/sync.ts";
import { mainCell } from "../../../api/background/analytics/views.ts";
import type { Target } from "../../../projections/engine/checkpoint.ts";
import { rebuild } from "../../../projections/engine/rebuild.ts";
import { priceTicked } from "../../../projections/facts/price-ticked.ts";
import { appendObservations } from "../../../projections/log/append.ts";
import { bindViews } from "../../../projections/reads/analytics/bind-views.ts";
import { syncingAlone } from "../../../projections/reads/analytics/capture/engine-progress.ts";
import { openSource } from "../../../projections/reads/analytics/capture/source.ts";
import { makeHistory } from "../../simulation/history.ts";
import { carryOut } from "../../simulation/play.ts";
import { randomFrom } from "../../simulation/random.ts";
import { orderedSteps } from "../../simulation/script.ts";
import {
  canonicalRows,
  duckdbEngine,
  postgresEngine,
  readAnswers,
  readCopy,
} from "../../support/database/analytics-engines.ts";
import { project } from "../../support/database/given.ts";
import { interrupting } from "../../support/database/interrupted-sink.ts";
import {
  apes,
  appendOrders,
  appendTrades,
  environmentOf,
  operate,
  prepare,
  projections,
  retractBlocks,
} from "../../support/database/operator.ts";
import { createDatabase, type TestDatabase } from "../../support/database/postgres.ts";
import { runOp } from "../../support/processes/op.ts";

let database: TestDatabase;
let targets: Target[];
let folder: string;
let file: string;
beforeAll(async () => {
  database = await createDatabase({ template: "projected" });
  folder = await mkdtemp(join(tmpdir(), "analytics-"));
  file = join(folder, "copy.duckdb");
  targets = await prepare(database.db);
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
  await database?.drop();
});

/** One sync as a process makes it: the file is opened and closed. `dies`: at a step of it. */
async function syncOnce(dies: (step: string) => boolean = () => false) {
  const sink = await openDuckdb(file, mainCell);
  try {
    return await sync(database.url, interrupting(sink, dies));
  } finally {
    await sink.close();
  }
}

const copies = async () => [
  await readCopy(postgresEngine(database.url)),
  await readCopy(duckdbEngine(file)),
];

describe("a copy in DuckDB", () => {
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
    expect(await readAnswers(duckdbEngine(file), asked)).toEqual(answers);
  });

  it("knows which facts are effective at any position", async () => {
    const effective = (p: bigint) => `
      select position from log.fact f where position <= ${p} and kind not in (1, 2)
        and not exists (select from log.retracted_blocks(${p}) r where r.block_id = f.block_id)`;
    const { position } = await syncOnce();
    for (const part of [1n, 3n, 5n, 7n, 8n]) {
      const upTo = (position * part) / 8n;
      const held = await postgresEngine(database.url).asking((ask) => ask(effective(upTo)));
      const copied = await duckdbEngine(file).asking((ask) =>
        ask(`select position from facts_at(${upTo})`),
      );
      expect(canonicalRows(copied)).toEqual(canonicalRows(held));
    }
  });

  it("compares parts by a digest that differs between a zero and a null", async () => {
    const source = await openSource(database.url);
    const digestOf = (value: string) =>
      source.snapshot((snapshot) =>
        snapshot.digests({
          name: "values",
          changes: "digest",
          key: ["id"],
          columns: [
            ["id", "o.id"],
            ["value", "o.value"],
          ],
          from: `(values (1, ${value})) o (id, value)`,
        }),
      );
    for (const type of ["float8", "numeric", "bigint", "boolean", "text", "jsonb"]) {
      const zero = { boolean: "false", text: "''", jsonb: "'0'" }[type] ?? "0";
      expect(await digestOf(`${zero}::${type}`)).not.toEqual(await digestOf(`null::${type}`));
    }
    await source.close();
  });

  it("of another log is refused, and copied anew when asked to", async () => {
    const other = await createDatabase({ template: "projected" });
    try {
      await prepare(other.db);
      const sink = await openDuckdb(file, mainCell);
      await expect(sync(other.url, sink)).rejects.toThrow("op analytics sync --anew");
      await sync(other.url, sink, { isAnew: true });
      await sink.close();
      expect(await readCopy(duckdbEngine(file))).toEqual(await readCopy(postgresEngine(other.url)));
    } finally {
      await other.drop();
    }
  });
});

describe("op analytics", () => {
  const environment = () => ({ ANALYTICS_DUCKDB_FILE: join(folder, "by-command.duckdb") });
  const op = async (...args: string[]) => {
    const { code, stdout, stderr } = await runOp(
      { ...environmentOf(database.url), ...environment() },
      ...args,
    );
    return { code, out: stdout, words: stderr };
  };

  it("sync copies to the place of the settings, and status and doctor tell how that went", async () => {
    const refused = await operate(database.url, "analytics", "sync", "--to", "duckdb");
    expect([refused.code, refused.words]).toEqual([
      1,
      expect.stringContaining("ANALYTICS_DUCKDB_FILE is not set"),
    ]);
    const done = await op("analytics", "sync", "--to", "duckdb", "--json");
    expect(done.code).toBe(0);
    const { position } = JSON.parse(done.out);
    const status = JSON.parse((await op("analytics", "status", "--json")).out);
    expect(status).toEqual([
      {
        engine: "duckdb",
        position,
        behind: "0",
        syncedAt: expect.anything(),
        failedAt: null,
        error: null,
      },
    ]);

    await sql`update ops.analytics_engine set error = 'no space left'`.execute(database.db);
    const problems = JSON.parse((await op("doctor", "--json")).out);
    expect(JSON.stringify(problems)).toContain("its last sync failed: no space left");
  });

  it("forget leaves nothing of an engine that is no longer used, and is refused for one that is", async () => {
    const refused = await op("analytics", "forget", "duckdb");
    expect([refused.code, refused.words]).toEqual([
      1,
      expect.stringContaining("ANALYTICS_DUCKDB_FILE is set: remove it and restart the jobs first"),
    ]);

    const forgotten = await operate(database.url, "analytics", "forget", "duckdb");
    expect([forgotten.code, forgotten.out]).toEqual([0, "duckdb is forgotten\n"]);
    expect(JSON.parse((await op("analytics", "status", "--json")).out)).toEqual([]);
    const again = await operate(database.url, "analytics", "forget", "duckdb");
    expect([again.code, again.out]).toEqual([0, "duckdb was not known\n"]);
  });

  it("sync is refused while another process syncs the engine", async () => {
    const held = syncingAlone({ db: database.db, lockDb: database.db }, "duckdb", async () => {
      const second = await op("analytics", "sync", "--to", "duckdb");
      expect([second.code, second.words]).toEqual([
        1,
        expect.stringContaining("another process syncs duckdb now"),
      ]);
      return { position: 0n };
    });
    await held;
  });
});
