import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import pg from "pg";
import { pino } from "pino";
import { startPostgres } from "../../api/run/postgres/embedded.ts";
import { openDatabase } from "../../projections/database.ts";
import { migrate } from "../../projections/log/migrate.ts";
import { measureTruth } from "./run.ts";
import { summarize } from "./summary.ts";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "100" },
    seed: { type: "string", default: "1" },
    chain: { type: "string", default: "33139" },
    minutes: { type: "string", default: "1440" },
    sweep: { type: "string", default: "60" },
    quiet: { type: "boolean", default: false },
  },
});

const directory = await mkdtemp(join(tmpdir(), "truth-"));
const server = await startPostgres({
  dataDir: directory,
  logger: pino({ level: "silent" }),
  durable: false,
});
try {
  const startedAt = performance.now();
  const truth = await measureTruth({
    chainId: values.chain === "1" ? 1 : 33139,
    seed: Number(values.seed),
    rounds: Number(values.rounds),
    minutes: Number(values.minutes),
    sweepSeconds: Number(values.sweep),
    databaseUrl: await makeDatabase(),
    report: (line) => (values.quiet ? undefined : print(line)),
  });
  const seconds = Math.round((performance.now() - startedAt) / 1_000);
  print(`seed ${values.seed}, ${seconds} s\n${summarize(truth)}`);
  process.exitCode = truth.disagreements.length === 0 ? 0 : 1;
} finally {
  await server.stop();
  await rm(directory, { recursive: true, force: true });
}

async function makeDatabase(): Promise<string> {
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  await client.query("create database truth");
  await client.end();
  const url = server.url.replace(/\/postgres$/, "/truth");
  const db = openDatabase({ url, applicationName: "truth", onIdleError: () => {} });
  await migrate(db);
  await db.destroy();
  return url;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
