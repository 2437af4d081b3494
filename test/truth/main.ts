import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import pg from "pg";
import { pino } from "pino";
import { type ChainId, chainIds } from "#chains/index.ts";
import { startPostgres } from "#ops/postgres/embedded.ts";
import { migrate } from "#ops/postgres/migrate.ts";
import { openDatabase } from "#projections/log/database.ts";
import { measureTruth } from "./run.ts";
import { summarize, summarizeAll } from "./summary.ts";
import type { TruthReport } from "./truth-report.ts";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "100" },
    evaluations: { type: "string" },
    orders: { type: "string" },
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
const measured: TruthReport[] = [];
try {
  for (const chainId of chainsOf(values.chain)) {
    const startedAt = performance.now();
    const truth = await measureTruth({
      chainId,
      seed: Number(values.seed),
      rounds: values.evaluations === undefined ? Number(values.rounds) : Number.MAX_SAFE_INTEGER,
      ...(values.evaluations !== undefined && { evaluations: Number(values.evaluations) }),
      ...(values.orders !== undefined && { orders: Number(values.orders) }),
      minutes: Number(values.minutes),
      sweepSeconds: Number(values.sweep),
      databaseUrl: await makeDatabase(`truth_${chainId}`),
      report: (line) => (values.quiet ? undefined : print(line)),
    });
    const seconds = Math.round((performance.now() - startedAt) / 1_000);
    print(`chain ${chainId}, seed ${values.seed}, ${seconds} s\n${summarize(truth)}`);
    measured.push(truth);
  }
  print(summarizeAll(measured));
  process.exitCode = measured.some(({ disagreements }) => disagreements.length > 0) ? 1 : 0;
} finally {
  await server.stop();
  await rm(directory, { recursive: true, force: true });
}

function chainsOf(name: string): readonly ChainId[] {
  if (name === "both") return chainIds;
  return [name === "1" ? 1 : 33139];
}

async function makeDatabase(name: string): Promise<string> {
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  await client.query(`create database ${name}`);
  await client.end();
  const url = server.url.replace(/\/postgres$/, `/${name}`);
  const db = openDatabase({ url, applicationName: "truth", onIdleError: () => {} });
  await migrate(db);
  await db.destroy();
  return url;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
