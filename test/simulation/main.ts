import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import pg from "pg";
import { pino } from "pino";
import { startPostgres } from "../../api/postgres/embedded.ts";
import { openDatabase } from "../../projections/database.ts";
import { migrate } from "../../projections/log/migrate.ts";
import { simulate } from "./run.ts";

const { values } = parseArgs({
  options: {
    runs: { type: "string", default: "100" },
    seed: { type: "string", default: "1" },
    turns: { type: "string", default: "6" },
    depth: { type: "string", default: "500" },
  },
});

/** Runs after which it is said how far they are. */
const TOLD_RUNS = 25;

const directory = await mkdtemp(join(tmpdir(), "simulation-"));
const server = await startPostgres({
  dataDir: directory,
  logger: pino({ level: "silent" }),
  durable: false,
});
try {
  const failed = await runAll([await makeDatabase("watched"), await makeDatabase("shuffled")]);
  process.exitCode = failed === 0 ? 0 : 1;
} finally {
  await server.stop();
  await rm(directory, { recursive: true, force: true });
}

/** Seeds one after the other. A failure names its seed: `--runs 1 --seed` repeats it. */
async function runAll(urls: readonly [string, string]): Promise<number> {
  const options = { turns: Number(values.turns), reorgDepth: Number(values.depth) };
  const first = Number(values.seed);
  const last = first + Number(values.runs) - 1;
  const startedAt = performance.now();
  let failed = 0;
  for (let seed = first; seed <= last; seed += 1) {
    const done = seed - first;
    if (done > 0 && done % TOLD_RUNS === 0) {
      process.stdout.write(`${done} runs from seed ${first}, ${failed} failed\n`);
    }
    const broken = await simulate(seed, options, urls).catch((error: unknown) => [String(error)]);
    if (broken.length === 0) continue;
    failed += 1;
    process.stdout.write(`seed ${seed}: ${broken.join("\n")}\n`);
  }
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
  process.stdout.write(
    `${last - first + 1} runs from seed ${first}: ${failed} failed, ${seconds} s\n`,
  );
  return failed;
}

async function makeDatabase(name: string): Promise<string> {
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  await client.query(`create database ${name}`);
  await client.end();
  const url = server.url.replace(/\/postgres$/, `/${name}`);
  const db = openDatabase({ url, applicationName: "simulation", onIdleError: () => {} });
  await migrate(db);
  await db.destroy();
  return url;
}
