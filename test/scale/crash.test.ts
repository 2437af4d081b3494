import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, it, onTestFailed } from "vitest";
import { seedMarket } from "#devnet/market/seed.ts";
import { runTrading } from "#devnet/market/trading.ts";
import { startPostgres } from "#ops/postgres/embedded.ts";
import { migrate } from "#ops/postgres/migrate.ts";
import {
  keepRunning,
  type OrphanGuard,
  type RestartedProcess,
  startOrphanGuard,
} from "#ops/processes/child.ts";
import { type Database, openDatabase } from "#projections/log/database.ts";
import { kindList } from "#projections/log/fact-kinds.ts";
import { type Market, openMarket } from "../support/chain/market.ts";
import { untilCanonical } from "../support/database/canonical.ts";
import { type KeptRole, keepRole, pipelineSettings, until } from "../support/database/pipeline.ts";
import { childrenOf } from "../support/database/processes.ts";

const lines: string[] = [];
const sink = (line: string) => void lines.push(line.trimEnd());

let orphanGuard: OrphanGuard;
let directory: string;
let server: KeptPostgres;
let markets: Market[];

beforeAll(async () => {
  orphanGuard = startOrphanGuard();
  directory = await mkdtemp(join(tmpdir(), "crash-"));
  const timestamp = Math.floor(Date.now() / 1000) - 4 * 86_400;
  [server, markets] = await Promise.all([
    keepPostgres(),
    Promise.all(([1, 33139] as const).map((chainId) => openMarket({ chainId, timestamp }))),
  ]);
  for (const [index, { client, anvil }] of markets.entries()) {
    await seedMarket(client, { chainId: anvil.chainId, seed: 21 + index });
    await client.setIntervalMining({ interval: 1 });
  }
});

afterAll(async () => {
  await Promise.all((markets ?? []).map((market) => market.stop()));
  await server?.stop(5_000);
  orphanGuard.killAll();
  await rm(directory, { recursive: true, force: true });
});

/** Whom to kill, by process ids. */
const victims = {
  Ponder: ({ indexer }: Service) => pondersOf(indexer),
  "the projector": ({ projector }: Service) => [projector.pid()],
  PostgreSQL: () => [server.pid()],
};

describe.each(Object.entries(victims))("kill -9 of %s", (_victim, find) => {
  let service: Service;
  let db: Database;

  beforeAll(async () => {
    service = await openService();
    db = service.db;
  });

  afterAll(async () => {
    await service?.stop();
  });

  /** Settles with the log's head at the kill, once each killed process has been restarted. */
  const kill = async (): Promise<bigint> => {
    const head = await headOf(db);
    const pids = find(service);
    expect(pids.length).toBeGreaterThan(0);
    expect(Math.min(...pids)).toBeGreaterThan(1);
    for (const pid of pids) process.kill(pid, "SIGKILL");
    const areBack = async () => {
      const next = find(service).filter((pid) => !pids.includes(pid));
      return next.length === pids.length;
    };
    await until("the next life", areBack);
    return head;
  };

  it("in the middle of a backfill loses no fact and doubles none", async () => {
    onTestFailed(tellLog);
    await until("the first facts", async () => (await headOf(db)) >= 100n);
    const headAtKill = await kill();

    await untilCanonical(db, markets);
    await expectSoundLog(db);
    expect(headAtKill).toBeLessThan(await headOf(db));
  });

  it("in the middle of live trading loses no fact and doubles none", async () => {
    onTestFailed(tellLog);
    const before = await headOf(db);
    await whileTrading(async () => {
      await until("live trades", async () => (await headOf(db)) > before + 10n);
      const headAtKill = await kill();
      await until("trades after the kill", async () => (await headOf(db)) > headAtKill + 10n);
    });

    await untilCanonical(db, markets);
    await expectSoundLog(db);
  });
});

type Service = {
  indexer: KeptRole;
  projector: KeptRole;
  db: Database;
  stop(): Promise<void>;
};

let opened = 0;

/** An indexer and a projector on an empty database. */
async function openService(): Promise<Service> {
  opened += 1;
  const url = server.url.replace(/\/postgres$/, `/service_${opened}`);
  const admin = connect(server.url);
  await sql.raw(`create database service_${opened}`).execute(admin);
  await admin.destroy();
  const db = connect(url);
  await migrate(db);
  const settings = await pipelineSettings({
    databaseUrl: url,
    chains: markets.map(({ anvil }) => anvil),
  });
  const projector = await keepRole("projector", { settings, orphanGuard, sink });
  const indexer = await keepRole("indexer", { settings, orphanGuard, sink });
  return {
    indexer,
    projector,
    db,
    async stop() {
      await Promise.all([indexer.stop(8_000), projector.stop(8_000)]);
      await db.destroy();
    },
  };
}

function connect(url: string): Database {
  return openDatabase({ url, applicationName: "test", onIdleError: () => {} });
}

type KeptPostgres = RestartedProcess & { url: string; pid(): number };

/** PostgreSQL as the supervisor runs it: durable, restarted on its port when it exits. */
async function keepPostgres(): Promise<KeptPostgres> {
  let life: Awaited<ReturnType<typeof startPostgres>> | undefined;
  const start = async () => {
    life = await startPostgres({
      dataDir: directory,
      logger: pino({ level: "silent" }),
      ...(life === undefined ? {} : { port: life.port }),
      onSpawn: (pid) => orphanGuard.add(pid, "SIGINT"),
    });
    const { pid, exited, stop } = life;
    void exited.then(() => orphanGuard.remove(pid));
    return { exited: exited.then((reason) => ({ code: null, reason })), stop };
  };
  const logger = pino({ level: "warn" }, { write: sink });
  const part = await keepRunning({
    name: "postgres",
    start,
    logger,
    onConfigurationError: () => {},
  });
  return { ...part, url: life?.url ?? "", pid: () => life?.pid ?? 0 };
}

/** Keeps both markets trading until `work` is done; the last trade is mined when this settles. */
async function whileTrading(work: () => Promise<void>): Promise<void> {
  const over = new AbortController();
  const trading = markets.map(({ client, anvil }) =>
    runTrading(client, { chainId: anvil.chainId, everyMs: 50, signal: over.signal }),
  );
  try {
    await work();
  } finally {
    over.abort();
    await Promise.all(trading);
  }
}

/** The chains had no reorg, so every fact is effective and no block is retracted. */
async function expectSoundLog(db: Database): Promise<void> {
  const { rows } = await sql`
    select (select position from log.head) - count(*) as missing, max(position) - count(*) as gaps,
           count(*) filter (where kind in ${kindList("block_retracted", "block_readopted")}) as "blockStates"
    from log.fact`.execute(db);
  expect(rows).toEqual([{ missing: 0n, gaps: 0n, blockStates: 0n }]);
}

async function headOf(db: Database): Promise<bigint> {
  const { rows } = await sql<{ position: bigint }>`select position from log.head`.execute(db);
  return rows[0]?.position ?? 0n;
}

/** One per chain. */
function pondersOf(indexer: KeptRole): number[] {
  return childrenOf(indexer.pid())
    .filter(({ command }) => command.includes("bin/ponder.js start"))
    .map(({ pid }) => pid);
}

function tellLog(): void {
  process.stderr.write(`${lines.slice(-60).join("\n")}\n`);
}
