import { createHash } from "node:crypto";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openDuckdb } from "../../../api/background/analytics/duckdb/duckdb-sink.ts";
import { runAnalyticsSync } from "../../../api/background/analytics/run-analytics-sync.ts";
import { sync } from "../../../api/background/analytics/sync.ts";
import { moveChain } from "../../../api/run/cells/move-chain.ts";
import { targetOf } from "../../../projections/engine/checkpoint.ts";
import { mainCell } from "../../../projections/log/cells/main-cell.ts";
import { readEngineProgress } from "../../../projections/reads/analytics/capture/engine-progress.ts";
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
import {
  canonicalRows,
  duckdbEngine,
  postgresEngine,
} from "../../support/database/analytics-engines.ts";
import { project } from "../../support/database/given.ts";
import { interrupting } from "../../support/database/interrupted-sink.ts";
import { environmentOf, prepare, projections } from "../../support/database/operator.ts";
import { createDatabase, type TestDatabase } from "../../support/database/postgres.ts";
import { runOp } from "../../support/processes/op.ts";

const moved = 33139;
type DayFile = { chainId: number; path: string; rows: number; sha256: string };

const random = randomFrom(2_205);
const targets = projections.map(targetOf);
const steps = orderedSteps(random, makeHistory(random, { turns: 12, reorgDepth: 6 }));
const beforeMove = steps.splice(0, Math.ceil(steps.length / 2));

let folder: string;
let file: string;
let [shared, own]: TestDatabase[] = [];
let main: CopiedCell;
let cell: CopiedCell;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "analytics-cells-"));
  file = join(folder, "copy.duckdb");
  [shared, own] = await Promise.all([createDatabase({ template: "projected" }), createDatabase()]);
  await prepare(shared.db);
  main = { name: mainCell, database: shared, serves: [1, moved] };
  cell = { name: `${moved}`, database: own, serves: [] };
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
  await Promise.all([shared, own].map((database) => database?.drop()));
});

async function play(played: readonly Step[], cells: readonly CopiedCell[]): Promise<void> {
  for (const step of played)
    for (const one of cells) await carryOut(one.database.db, stepIn(one, step));
  for (const { database } of cells) await project(database.db, targets);
}

/** One sync of a cell as a process makes it. `dies`: at a step of it. */
async function syncOnce({ name, database }: CopiedCell, dies = (_: string) => false) {
  const sink = await openDuckdb(file, name);
  try {
    return await sync(database.url, interrupting(sink, dies));
  } finally {
    await sink.close();
  }
}

/** Of blocks alone: other facts are of no chain or never retracted. */
const effectiveAt = (upTo: bigint, chains: string) => `
  select position from log.fact f join log.block b using (block_id)
  where position <= ${upTo} and kind not in (1, 2) and ${chains}
    and not exists (select from log.retracted_blocks(${upTo}) r where r.block_id = f.block_id)`;

const held = () => readHeld(duckdbEngine(file));

it("a chain that moves is copied from where it is served: from the shared database until its own is copied whole", async () => {
  await play(beforeMove, [main]);
  await syncOnce(main);
  const before = await readServed([main]);
  expect(await held()).toEqual(before);

  await moveChain({
    ...{ chainId: moved, from: main.database.db, to: cell.database.db, projections },
    ...{ awaitsIndexer: false, onStep: () => {} },
  });
  [main, cell] = [
    { ...main, serves: [1] },
    { ...cell, serves: [moved] },
  ];
  await syncOnce(main);
  await syncOnce(cell, (step) => step === "commit").catch(() => {});
  expect(await held()).toEqual(before);
  await syncOnce(cell);
  const after = await readServed([main, cell]);
  expect(await held()).toEqual(after);
  expect(after.get("sales")?.length).toBeGreaterThan(0);
  for (const view of ["sales", "transfers", "tokens", "listings", "floors"])
    expect([view, after.get(view)]).toEqual([view, before.get(view)]);
});

it("each cell's facts and rows are there once, through reorgs and syncs that die at any step", async () => {
  const cells = [main, cell];
  const part = Math.ceil(steps.length / 4);
  let deaths = 0;
  while (steps.length > 0) {
    await play(steps.splice(0, part), cells);
    for (const one of cells) {
      let left = random.int(0, 12);
      await syncOnce(one, () => left-- === 0).catch(() => {
        deaths += 1;
      });
      await syncOnce(one);
    }
    expect(await held()).toEqual(await readServed(cells));
  }
  expect(deaths).toBeGreaterThan(1);
});

it("knows which facts of a cell are effective at a position of it", async () => {
  for (const { name, database, serves } of [main, cell]) {
    const { position } = await syncOnce({ name, database, serves });
    for (const upTo of [position / 3n, position / 2n, position]) {
      const chains = `chain_id in (${serves.join(", ")})`;
      const inLog = await postgresEngine(database.url).asking((ask) =>
        ask(effectiveAt(upTo, chains)),
      );
      const copied = await duckdbEngine(file).asking((ask) =>
        ask(
          `select position from facts_at(${upTo}) where cell = '${name}' and block_id is not null and ${chains}`,
        ),
      );
      expect(copied.length).toBeGreaterThan(0);
      expect(canonicalRows(copied)).toEqual(canonicalRows(inLog));
    }
  }
});

const environment = () => ({
  ...environmentOf(main.database.url),
  ...{ DATABASE_URL_33139: cell.database.url, ANALYTICS_DUCKDB_FILE: file },
});

it("op analytics sync brings the copies of all databases up to date, and copies one anew alone", async () => {
  const told = async (...args: string[]) => {
    const { code, stdout, stderr } = await runOp(environment(), ...args, "--json");
    expect([code, stderr]).toEqual([0, ""]);
    return stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
  };
  const places = await told("analytics", "sync", "--to", "duckdb");
  expect(places.map((one) => one.cell)).toEqual([mainCell, `${moved}`]);
  const expected = await readServed([main, cell]);
  expect(await held()).toEqual(expected);

  const [{ facts }] = await told(
    "--cell",
    `${moved}`,
    "analytics",
    "sync",
    "--to",
    "duckdb",
    "--anew",
  );
  expect(Number(facts)).toBeGreaterThan(0);
  expect(await held()).toEqual(expected);
  const status = await told("analytics", "status");
  expect(status.map(({ cell: name, engines }) => [name, engines[0].behind])).toEqual([
    [mainCell, "0"],
    [`${moved}`, "0"],
  ]);
});

it("the jobs of two databases keep one file up to date, each in its turn", async () => {
  await rm(file);
  const startedAt = new Date();
  const ending = new AbortController();
  const jobs = [main, cell].map(({ name, database: { db, url } }) =>
    runAnalyticsSync({
      ...{ cell: name, db, url, lockUrl: main.database.url, readUrl: null, intervalSeconds: 60 },
      ...{ clickhouseUrl: null, duckdbFile: file },
      ...{ logger: pino({ level: "silent" }), signal: ending.signal },
    }),
  );
  const behind = async () => {
    const all = await Promise.all([main, cell].map(({ database }) => syncedAt(database)));
    return all.filter((at) => at === null || at < startedAt).length;
  };
  await expect.poll(behind).toBe(0);
  ending.abort();
  await Promise.all(jobs);
  expect(await held()).toEqual(await readServed([main, cell]));
});

const syncedAt = async ({ db }: TestDatabase) =>
  (await readEngineProgress(db))[0]?.syncedAt ?? null;

it("op export --by-day writes the days of each chain from the database that serves it", async () => {
  const directory = join(folder, "days");
  const days = async (...args: string[]) => {
    const options = ["export", "sales", "--by-day", directory, ...args];
    const { code, stderr } = await runOp(environment(), ...options);
    expect([code, stderr]).toEqual([0, expect.stringContaining("rows in")]);
    const manifest = await readFile(join(directory, "manifest.json"), "utf8");
    return (JSON.parse(manifest) as { files: DayFile[] }).files;
  };
  const sums = (files: readonly DayFile[]) =>
    [1, moved].map((chain) =>
      files.reduce((sum, { chainId, rows }) => sum + (chainId === chain ? rows : 0), 0),
    );
  const expected: number[] = [];
  for (const one of [main, cell])
    expected.push((await readServed([one])).get("sales")?.length ?? 0);
  expect(Math.min(...expected)).toBeGreaterThan(0);

  const files = await days();
  expect(sums(files)).toEqual(expected);
  expect(sums(await days("--chain", `${moved}`))).toEqual(expected);
  for (const { path, sha256 } of files) {
    const content = await readFile(join(directory, path));
    expect(createHash("sha256").update(content).digest("hex")).toBe(sha256);
  }

  const refused = await runOp(environment(), "export", "sales");
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("--chain")]);
  const { stdout } = await runOp(environment(), "export", "sales", "--chain", `${moved}`);
  expect(stdout.split("\r\n").length - 2).toBe(expected[1]);
});
