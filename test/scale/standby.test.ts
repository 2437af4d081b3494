import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { sql } from "kysely";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { statusPollMs } from "#api/status/service-status.ts";
import { openStatusReader, type StatusReader } from "#api/status/status-reader.ts";
import { seedMarket } from "#devnet/market/seed.ts";
import { runTrading } from "#devnet/market/trading.ts";
import { openHashReader } from "#jobs/chain/client.ts";
import { openHeadReader } from "#jobs/chain/fetch-head.ts";
import { leaseMs } from "#ops/processes/roles/leader.ts";
import type { Database } from "#projections/log/database.ts";
import { kindList } from "#projections/log/fact-kinds.ts";
import { type Market, openMarket } from "../support/chain/market.ts";
import { untilCanonical } from "../support/database/canonical.ts";
import {
  type Pipeline,
  pipelineSettings,
  spawnRole,
  startPipeline,
  until,
} from "../support/database/pipeline.ts";
import { createDatabase, type TestDatabase } from "../support/database/postgres.ts";
import { childrenOf } from "../support/database/processes.ts";

const takeoverMs = 3_000;

let market: Market;
let database: TestDatabase;
let indexer: Pipeline;
let settings: Record<string, string>;
const projectors: ChildProcess[] = [];

beforeAll(async () => {
  const timestamp = Math.floor(Date.now() / 1000) - 4 * 86_400;
  market = await openMarket({ chainId: 33139, timestamp });
  await seedMarket(market.client, { chainId: 33139, seed: 41 });
  await market.client.setIntervalMining({ interval: 1 });
  database = await createDatabase();
  const options = { databaseUrl: database.url, chains: [market.anvil] };
  settings = await pipelineSettings(options);
  await startProjector();
  await until("a leader", async () => (await leader())?.works);
  await startProjector();
  indexer = await startPipeline({ ...options, roles: ["indexer"] });
});

afterAll(async () => {
  for (const one of projectors) await end(one);
  await indexer?.stop();
  await database?.drop();
  await market?.stop();
});

async function startProjector(): Promise<void> {
  projectors.push(spawnRole("projector", settings));
}

async function end(one: ChildProcess): Promise<void> {
  if (one.exitCode !== null || one.signalCode !== null) return;
  const gone = once(one, "exit");
  one.kill("SIGCONT");
  one.kill("SIGTERM");
  await gone;
}

/** Who holds the lease: its holder names its process. */
async function leader(): Promise<{ pid: number; works: boolean } | undefined> {
  const { rows } = await sql<{ owner: string; works: boolean }>`
    select owner, expires_at > clock_timestamp() as works from ops.lease where role = 'projector'
  `.execute(database.db);
  const [row] = rows;
  return row && { pid: Number(row.owner.split(" ")[1]), works: row.works };
}

async function leading(): Promise<ChildProcess> {
  const held = await until("a leader", async () => {
    const found = await leader();
    return found?.works === true && found;
  });
  const one = projectors.find(({ pid }) => pid === held.pid);
  if (one === undefined) throw new Error(`process ${held.pid} leads, which is none of ours`);
  return one;
}

/** Settles, with the milliseconds it took, when another than `former` works. */
async function untilTakenOver(former: ChildProcess): Promise<number> {
  const since = performance.now();
  await until("another leader", async () => {
    const found = await leader();
    return found?.works === true && found.pid !== former.pid;
  });
  return performance.now() - since;
}

/** When a process began to wait for the lease last, in milliseconds. */
async function lastConnection(): Promise<number> {
  const { rows } = await sql<{ startedAt: Date }>`
    select max(backend_start) as "startedAt" from pg_stat_activity
    where datname = current_database() and application_name = 'leader projector'`.execute(
    database.db,
  );
  return rows[0]?.startedAt.getTime() ?? 0;
}

async function headOf(db: Database): Promise<bigint> {
  const { rows } = await sql<{ position: bigint }>`select position from log.head`.execute(db);
  return rows[0]?.position ?? 0n;
}

async function untilRecorded(facts: bigint): Promise<void> {
  const from = await headOf(database.db);
  await until(`${facts} more facts`, async () => (await headOf(database.db)) >= from + facts);
}

async function whileTrading(work: () => Promise<void>): Promise<void> {
  const over = new AbortController();
  const trading = runTrading(market.client, {
    chainId: 33139,
    everyMs: 50,
    signal: over.signal,
  });
  try {
    await work();
  } finally {
    over.abort();
    await trading;
  }
}

/** Every fact exists once, positions have no gap, and the tables equal those of a replay of the chain. */
async function expectSound(): Promise<void> {
  await untilCanonical(database.db, [market]);
  const { rows } = await sql`
    select (select position from log.head) - count(*) as missing, max(position) - count(*) as gaps,
           count(*) filter (where kind in ${kindList("block_retracted", "block_readopted")}) as "blockStates"
    from log.fact`.execute(database.db);
  expect(rows).toEqual([{ missing: 0n, gaps: 0n, blockStates: 0n }]);
}

describe("two projectors", () => {
  it("of which the leader is killed: the other works within 3 s, nothing is lost or doubled", async () => {
    await whileTrading(async () => {
      await untilRecorded(10n);
      const former = await leading();
      former.kill("SIGKILL");
      expect(await untilTakenOver(former)).toBeLessThan(takeoverMs);
      await untilRecorded(10n);
      await startProjector();
    });
    await expectSound();
  });

  it("of which the leader freezes in a transaction: the other takes over, the first is fenced when it wakes and stands by", async () => {
    let former: ChildProcess | undefined;
    await whileTrading(async () => {
      former = await leading();
      await freezeInTransaction(former);
      expect(await untilTakenOver(former)).toBeLessThan(takeoverMs);
      // Which the server allows once it has ended the transaction.
      await untilRecorded(10n);
      const connectedAt = await lastConnection();
      former.kill("SIGCONT");
      await until("the first to stand by", async () => (await lastConnection()) > connectedAt);
      await untilRecorded(10n);
    });
    await expectSound();
    expect((await leading()).pid).not.toBe(former?.pid);
    expect([former?.exitCode, former?.signalCode]).toEqual([null, null]);
  });

  it("when the leader is stopped, the other takes over at once", async () => {
    const former = await leading();
    const gone = once(former, "exit");
    former.kill("SIGTERM");
    await gone;
    expect(await untilTakenOver(former)).toBeLessThan(1_000);
    await whileTrading(() => untilRecorded(10n));
    await expectSound();
  });
});

describe("health", () => {
  const limitSeconds = 3;
  const lateSeconds = {
    indexer: limitSeconds,
    recorder: limitSeconds,
    projection: limitSeconds,
    lease: limitSeconds,
    branch: limitSeconds,
  };
  let readStatus: StatusReader;
  let polling: NodeJS.Timeout;

  beforeAll(async () => {
    const { chainId, rpcUrl } = market.anvil;
    const rpc = { chainId, rpcUrls: [rpcUrl], timeoutMs: 1_000 };
    readStatus = openStatusReader({
      db: database.db,
      chains: [
        {
          chainId,
          readHead: openHeadReader({ ...rpc, maxAgeMs: 0, staleBlocks: 100 }),
          readHash: openHashReader(rpc),
        },
      ],
      projections: ["sales"],
      now: () => new Date(),
      logger: pino({ level: "silent" }),
      lateSeconds,
      maxAgeMs: 100,
    });
    polling = setInterval(() => void readStatus().catch(() => {}), statusPollMs);
    await until("green health", async () => (await readStatus()).ready);
  });
  afterAll(() => clearInterval(polling));

  /** Settles, with the seconds it took, once one of the failing parts has this name. */
  async function untilRed(part: string): Promise<number> {
    const since = performance.now();
    await until(`red ${part}`, async () => {
      const { failing } = await readStatus();
      return failing.some((one) => one.part === part);
    });
    return (performance.now() - since) / 1000;
  }

  it("turns red within 5 s of its limit when the indexer is frozen", async () => {
    const [ponder] = childrenOf(process.pid).filter(({ command }) =>
      command.includes("bin/ponder.js start"),
    );
    if (ponder === undefined) throw new Error("Ponder does not run");
    process.kill(ponder.pid, "SIGSTOP");
    try {
      expect(await untilRed("chain 33139 indexer")).toBeLessThan(limitSeconds + 5);
    } finally {
      process.kill(ponder.pid, "SIGCONT");
    }
    await until("green health", async () => (await readStatus()).ready);
  });

  it("turns red within 5 s of its limit when every projector is frozen, events or not", async () => {
    const living = projectors.filter((one) => one.exitCode === null && one.signalCode === null);
    for (const one of living) one.kill("SIGSTOP");
    expect(await untilRed("projector")).toBeLessThan(leaseMs / 1000 + limitSeconds + 5);
    await whileTrading(async () => {
      expect(await untilRed("chain 33139 log")).toBeLessThan(limitSeconds + 5);
    });
    for (const one of living) one.kill("SIGCONT");
    await startProjector();
    await until("green health", async () => (await readStatus()).ready);
    await expectSound();
  });
});

/** Stops a process while it waits, in a transaction, for the log's head; then the head is its, and it does not know. */
async function freezeInTransaction(one: ChildProcess): Promise<void> {
  await database.db.transaction().execute(async (session) => {
    await sql`select from log.head for update`.execute(session);
    await until("a transaction that waits", async () => {
      const { rows } = await sql`
        select from pg_stat_activity
        where datname = current_database() and application_name = 'projector' and wait_event_type = 'Lock'
      `.execute(database.db);
      return rows.length > 0;
    });
    one.kill("SIGSTOP");
  });
}
