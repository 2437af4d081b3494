import { sql } from "kysely";
import pino from "pino";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { seededRandom } from "#devnet/market/random.ts";
import { runJobs } from "#jobs/runner/run-jobs.ts";
import { indexedSources } from "#ops/ponder/indexed-sources.ts";
import { historyProof } from "#ops/ponder/prove-history.ts";
import { type ChainReader, openChainReader } from "#ops/reader/chain-reader.ts";
import { appendBlockStates } from "#projections/log/blocks.ts";
import { type HistoryState, readHistoryState } from "#projections/log/chain-state.ts";
import type { Database } from "#projections/log/database.ts";
import { kindLiteral } from "#projections/log/fact-kinds.ts";
import { coreIndexer } from "#projections/log/sources.ts";
import {
  growChain,
  type ProvableChain,
  usualBlocks,
} from "#test/reliability/chain/provable-chain.ts";
import { type Faults, noFaults } from "#test/reliability/node/faults.ts";
import { startFaultyNode } from "#test/reliability/node/faulty-node.ts";
import type { FaultyNode } from "#test/reliability/node/node-state.ts";
import { recordChain } from "#test/support/chain/chain-facts.ts";
import { dumpFacts } from "#test/support/chain/chain-replay.ts";
import { createDatabase, type TestDatabase } from "#test/support/database/postgres.ts";
import { settle } from "#test/support/database/settled-blocks.ts";

const chainId = 1 as const;
const finalityBlocks = 10;
/** Not a multiple of a step's, and several. */
const blocks = 310;
const settings = {
  ...{ chainId, wsUrl: null, startBlock: 1_000_000, logsBlockRange: null, finalityBlocks },
  ...({ collections: "all", wrappedNativeEvents: "none" } as const),
};

let chain: ProvableChain;
let node: FaultyNode;
/** The chain's facts, up to the last final block. */
let facts: string[];
let ending = new AbortController();
let proving: Promise<void> = Promise.resolve();
let database: TestDatabase;

beforeAll(async () => {
  chain = growChain(usualBlocks(blocks));
  node = await startFaultyNode(chain, 1);
  const whole = await createRecorded();
  facts = await dumpFacts(whole.db);
  await whole.drop();
});

afterEach(async () => {
  ending.abort();
  await proving;
  ending = new AbortController();
  node.faults = noFaults();
  await database?.drop();
});

afterAll(() => node?.close());

const firstBlock = 1_000_000;
const lastFinal = () => chain.head().number - finalityBlocks;

/** A log that holds the chain up to its last final block, as a recorder settles it. */
async function createRecorded(): Promise<TestDatabase> {
  const created = await createDatabase();
  await recordChain(created.db, { chainId, rpcUrl: node.url }, settings);
  await removeFacts(created.db, sql`b.number > ${lastFinal()}`);
  await settle(created.db, chainId, lastFinal());
  return created;
}

const removeFacts = (db: Database, where: ReturnType<typeof sql>) =>
  sql`delete from log.fact f using log.block b where b.block_id = f.block_id and ${where}`.execute(
    db,
  );

const openReader = (): ChainReader =>
  openChainReader({ ...settings, rpcUrls: [node.url], signal: ending.signal });

/** `logged`: what the job says. */
function prove(reader = openReader(), logged: string[] = []): void {
  const recorded = indexedSources(settings, { collections: [] });
  const logger = pino({}, { write: (line: string) => logged.push(line) });
  const job = historyProof({
    db: database.db,
    chain: { ...settings, rpcUrls: [node.url] },
    reader,
    readIndexers: async () => [{ name: coreIndexer, recorded }],
    logger,
  });
  proving = runJobs(job, { logger, signal: ending.signal });
}

const proof = (): Promise<HistoryState | null> => readHistoryState(database.db, chainId);

const wholeProof = () =>
  expect
    .poll(async () => {
      const one = await proof();
      return one && [one.share, one.provedTo];
    })
    .toEqual([1, lastFinal()]);

async function readRepairs(): Promise<{ appended: number; retracted: number; readopted: number }> {
  const { rows } = await sql<{ appended: number; retracted: number; readopted: number }>`
    select coalesce(sum((payload ->> 'appended')::int), 0)::int as appended,
           coalesce(sum((payload ->> 'retracted')::int), 0)::int as retracted,
           coalesce(sum((payload ->> 'readopted')::int), 0)::int as readopted
    from log.fact where kind = ${kindLiteral("history_repaired")}`.execute(database.db);
  return rows[0] ?? { appended: 0, retracted: 0, readopted: 0 };
}

const nothing = { appended: 0, retracted: 0, readopted: 0 };

describe("the proof of a chain's history", () => {
  it("reaches the first block, by the receipts of each, and changes nothing that is right", async () => {
    database = await createRecorded();
    prove();
    await wholeProof();
    expect(await proof()).toMatchObject({
      ...{ firstBlock, provedFrom: firstBlock, evidence: "receipts" },
      ...{ repaired: 0, unrepaired: 0, repairedAt: null },
    });
    expect(await readRepairs()).toEqual(nothing);
    expect(await dumpFacts(database.db)).toEqual(facts);
  });

  it("follows new final blocks", async () => {
    database = await createRecorded();
    prove();
    await wholeProof();
    chain.add(usualBlocks(3));
    await recordChain(database.db, { chainId, rpcUrl: node.url }, settings);
    await removeFacts(database.db, sql`b.number > ${lastFinal()}`);
    facts = await dumpFacts(database.db);
    await settle(database.db, chainId, lastFinal());
    await wholeProof();
    expect(await readRepairs()).toEqual(nothing);
  });

  /** Draws what a log lacks: whole ranges, single events, blocks that were called reorged. */
  it.each([1, 2, 3, 4, 5, 6])(
    "mends what the log lacks, with a fact that says so, seed %i",
    async (seed) => {
      database = await createRecorded();
      const random = seededRandom(seed);
      const from = firstBlock + random.below(Math.floor(blocks * 0.7));
      const to = from + random.below(120);
      const share = random.below(100) / 100;
      await sql`select setseed(${share})`.execute(database.db);
      await removeFacts(
        database.db,
        sql`b.number between ${from} and ${to} or (f.log_index is not null and random() < ${share * 0.05})`,
      );
      const { rows } = await sql<{ blockId: bigint }>`
      select distinct block_id as "blockId" from log.fact where log_index is not null
      order by 1 limit 3`.execute(database.db);
      const readopted = rows.slice(0, seed % 3).map(({ blockId }) => blockId);
      await database.db
        .transaction()
        .execute((session) => appendBlockStates(session, "block_retracted", readopted, new Date()));
      const left = (await dumpFacts(database.db)).length;
      prove();
      await wholeProof();
      expect(await dumpFacts(database.db)).toEqual(facts);
      const repairs = await readRepairs();
      expect(repairs.appended > 0 || repairs.readopted > 0).toBe(left < facts.length);
      expect(repairs.retracted).toBe(0);
      expect((await proof())?.unrepaired).toBe(0);
    },
  );

  it("counts what it cannot mend for as long as the log differs", async () => {
    database = await createRecorded();
    await sql`
      insert into log.fact
      select (jsonb_populate_record(f, jsonb_build_object('position', f.position + 1000000, 'log_index', 90000))).*
      from log.fact f where f.log_index is not null order by f.position limit 1`.execute(
      database.db,
    );
    prove();
    await wholeProof();
    expect((await proof())?.unrepaired).toBe(1);
    await sql`delete from log.fact where log_index = 90000`.execute(database.db);
    await expect.poll(async () => (await proof())?.unrepaired).toBe(0);
    expect(await dumpFacts(database.db)).toEqual(facts);
  });

  const lies: [string, Partial<Faults>][] = [
    ["logs are altered", { altered: 1, receipts: "unknown" }],
    ["blocks are null", { nullBlocks: 1 }],
    [
      "old logs are left out",
      { pruned: { below: 1_000_400, answer: "empty" }, receipts: "unknown" },
    ],
  ];

  it.each(lies)("claims nothing while %s, and all once the node is well", async (_, faults) => {
    database = await createRecorded();
    await removeFacts(database.db, sql`b.number between 1000050 and 1000090`);
    const reader = openReader();
    await reader.heads.first;
    node.faults = { ...noFaults(), ...faults };
    prove(reader);
    await expect.poll(() => reader.pool.nodes[0]?.failures).toBeGreaterThan(5);
    expect(await proof()).toBe(null);
    node.faults = noFaults();
    await wholeProof();
    expect(await dumpFacts(database.db)).toEqual(facts);
  });

  it("takes nothing from another chain of the same id, and goes on where its own is back", async () => {
    database = await createRecorded();
    const own = node.chain;
    node.chain = growChain(usualBlocks(blocks + 50), { world: 500 });
    const logged: string[] = [];
    prove(openReader(), logged);
    await expect
      .poll(() => logged.join())
      .toContain("none of the log's oldest blocks is on the chain");
    expect(await proof()).toBe(null);
    expect(await dumpFacts(database.db)).toEqual(facts);
    ending.abort();
    await proving;
    ending = new AbortController();
    node.chain = own;
    prove();
    await wholeProof();
    expect(await readRepairs()).toEqual(nothing);
    expect(await dumpFacts(database.db)).toEqual(facts);
  });
});
