import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import pg from "pg";
import { pino } from "pino";
import { startPostgres } from "#ops/postgres/embedded.ts";
import { migrate } from "#ops/postgres/migrate.ts";
import { startOrphanGuard } from "#ops/processes/child.ts";
import { repartition } from "../support/database/partitions.ts";
import { emptyCoverage, presentCoverage, summarize } from "./coverage.ts";
import { openSimulationDatabase } from "./database.ts";
import { simulate } from "./run.ts";
import { closeStore, openStore } from "./store.ts";

const { values } = parseArgs({
  options: {
    runs: { type: "string", default: "100" },
    seed: { type: "string", default: "1" },
    // Facts in a partition of one of the two logs; the other has one partition.
    partition: { type: "string", default: "40" },
  },
});

/** Runs after which it is said how far they are. */
const REPORT_RUNS = 25;

const directory = await mkdtemp(join(tmpdir(), "simulation-"));
const orphanGuard = startOrphanGuard();
const server = await startPostgres({
  dataDir: directory,
  logger: pino({ level: "silent" }),
  durable: false,
  onSpawn: (pid) => orphanGuard.add(pid, "SIGINT"),
});
void server.exited.then(() => orphanGuard.remove(server.pid));
try {
  const failed = await runAll([
    await makeDatabase("watched"),
    await makeDatabase("shuffled", Number(values.partition)),
  ]);
  process.exitCode = failed === 0 ? 0 : 1;
} finally {
  await server.stop();
  await rm(directory, { recursive: true, force: true });
}

/** Seeds one after the other. A failure names its seed: `--runs 1 --seed` repeats it. */
async function runAll([watched, shuffled]: readonly [string, string]): Promise<number> {
  const first = Number(values.seed);
  const runs = Number(values.runs);
  const open = async () => [await openStore(watched), await openStore(shuffled)] as const;
  const startedAt = performance.now();
  const coverage = emptyCoverage();
  let failed = 0;
  let stores = await open();
  for (let done = 0; done < runs; done += 1) {
    if (done > 0 && done % REPORT_RUNS === 0) {
      process.stdout.write(`${done} runs from seed ${first}, ${failed} failed\n`);
    }
    const seed = first + done;
    const broken = await simulate(seed, stores, coverage).catch((error) => [String(error)]);
    if (broken.length === 0) continue;
    failed += 1;
    process.stdout.write(`seed ${seed}: ${broken.join("\n")}\n`);
    // What was left half done is nothing to go on from.
    await Promise.all(stores.map(closeStore));
    stores = await open();
  }
  await Promise.all(stores.map(closeStore));
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
  const summary = `${runs} runs from seed ${first}: ${failed} failed, ${seconds} s`;
  process.stdout.write(`${presentCoverage(coverage).join("\n")}\n`);
  process.stdout.write(`${summary}, covered: ${summarize(coverage)}\n`);
  return failed;
}

async function makeDatabase(name: string, partition?: number): Promise<string> {
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  await client.query(`create database ${name}`);
  await client.end();
  const url = server.url.replace(/\/postgres$/, `/${name}`);
  const db = openSimulationDatabase(url);
  await migrate(db);
  if (partition !== undefined) await repartition(db, partition);
  await db.destroy();
  return url;
}
