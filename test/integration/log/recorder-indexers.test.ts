import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { checkObservationBlocks } from "#projections/log/audit.ts";
import { recordChain } from "#projections/log/recording/recorder.ts";
import { coreIndexer } from "#projections/log/sources.ts";
import { addressOf, type Block, block, zeroAddress } from "#test/support/database/given.ts";
import { createDatabase, type TestDatabase } from "#test/support/database/postgres.ts";
import {
  createPonderTables,
  type Emitted,
  emit,
  endOf,
  finalize,
  takeBack,
} from "./ponder-tables.ts";

const chainId = 1;
const added = "bazaar";
const core = "ponder_core";
const bazaar = "ponder_bazaar";
const [nft, exchange, alice] = [50, 60, 1].map(addressOf);

let database: TestDatabase;
/** What the chain says of each height, and how often it was asked. */
let chain: Map<bigint, string | null>;
let questions: number;

beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());

beforeEach(async () => {
  const { db } = database;
  await sql`
    truncate log.fact, log.block, log.transaction, log.contract, ops.recorder, ops.recorded_block, ops.indexer,
      ops.source, ops.observation_check`.execute(db);
  await sql`update log.head set position = 0`.execute(db);
  for (const schema of [core, bazaar]) {
    await sql`drop schema if exists ${sql.id(schema)} cascade`.execute(db);
  }
  await createPonderTables(db, core, chainId);
  await createPonderTables(db, bazaar, chainId, added);
  chain = new Map();
  questions = 0;
});

const recordingOf = (indexer: string) => ({
  ...{ chainId, indexer, now: () => new Date(0), fence: async () => {} },
  canonicalHashes: async (numbers: readonly bigint[]) => {
    questions += 1;
    return new Map(numbers.map((number) => [number, chain.get(number) ?? null]));
  },
});

async function record(indexer: string): Promise<number> {
  let appended = 0;
  for (;;) {
    const pass = await recordChain(database.db, recordingOf(indexer));
    appended += pass.appended;
    if (!pass.more) return appended;
  }
}

const checkUnwatched = () => checkObservationBlocks(database.db, recordingOf(coreIndexer), 64);

/** The chain knows these blocks and is as long as them. */
function chainIs(...blocks: Block[]) {
  chain = new Map(blocks.map(({ number, hash }) => [BigInt(number), hash]));
}

async function indexedUpTo(schema: string, at: Block): Promise<void> {
  await sql`
    update ${sql.table(`${schema}._ponder_checkpoint`)} set latest_checkpoint = ${endOf(at)}`.execute(
    database.db,
  );
}

const transfer = (at: Block, logIndex = 0): Emitted => ({
  ...{ block: at, logIndex, name: "Transfer", address: nft ?? zeroAddress },
  args: { from: zeroAddress, to: alice, tokenId: String(at.number * 100 + logIndex) },
});
const sale = (at: Block, logIndex = 5): Emitted => ({
  ...{ block: at, logIndex, source: "Bazaar", name: "Sold", address: exchange ?? zeroAddress },
  args: { price: "1" },
});

const b1 = block(chainId, 1);
const b2 = block(chainId, 2);
const b3 = block(chainId, 3);
const c2 = block(chainId, 2, "fork");
const c3 = block(chainId, 3, "fork");
const names = { b1, b2, b3, c2, c3 };

/** Names of blocks whose events are effective, with the log indexes of these. */
async function effective(): Promise<Record<string, number[]>> {
  const { rows } = await sql<{ hash: string; indexes: number[] }>`
    select b.hash, array_agg(f.log_index order by f.log_index) as indexes
    from log.fact f join log.block b using (block_id)
    where f.log_index is not null
      and f.block_id not in (select block_id from log.retracted_blocks((select position from log.head)))
    group by b.hash`.execute(database.db);
  return Object.fromEntries(
    Object.entries(names).flatMap(([name, { hash }]) => {
      const row = rows.find((one) => one.hash === hash);
      return row === undefined ? [] : [[name, row.indexes]];
    }),
  );
}

describe("two indexers of a chain", () => {
  it("share blocks and transactions, whichever recorded first, and ask the chain nothing", async () => {
    const { db } = database;
    await emit(db, core, [transfer(b1), transfer(b2)]);
    expect(await record(coreIndexer)).toBe(2);
    await emit(db, bazaar, [sale(b1), { ...sale(b2), transactionIndex: 0 }]);
    expect(await record(added)).toBe(2);
    await emit(db, bazaar, [sale(b3)]);
    await record(added);
    await emit(db, core, [transfer(b3)]);
    await record(coreIndexer);

    expect(await effective()).toEqual({ b1: [0, 5], b2: [0, 5], b3: [0, 5] });
    const { rows } = await sql<{ blocks: bigint; facts: bigint; last: bigint }>`
      select (select count(*) from log.block) as blocks, count(*) as facts, max(position) as last from log.fact`.execute(
      db,
    );
    expect(rows).toEqual([{ blocks: 3n, facts: 6n, last: 6n }]);
    expect(questions).toBe(0);
  });

  it("does not suspect a block that only the other one has events of", async () => {
    const { db } = database;
    await emit(db, bazaar, [sale(b2)]);
    await record(added);
    await emit(db, core, [transfer(b1), transfer(b3)]);
    await record(coreIndexer);
    await finalize(db, core, chainId, endOf(b3));
    await record(coreIndexer);
    expect(await effective()).toEqual({ b1: [0], b2: [5], b3: [0] });
    expect(questions).toBe(0);
  });

  it("takes the history of the added one into blocks that are settled", async () => {
    const { db } = database;
    await emit(db, core, [transfer(b1), transfer(b2), transfer(b3)]);
    await finalize(db, core, chainId, endOf(b3));
    await record(coreIndexer);
    await emit(db, bazaar, [sale(b1), sale(b3)]);
    await finalize(db, bazaar, chainId, endOf(b3));
    expect(await record(added)).toBe(2);
    expect(await record(added)).toBe(0);
    expect(await record(coreIndexer)).toBe(0);
    expect(await effective()).toEqual({ b1: [0, 5], b2: [0], b3: [0, 5] });
  });
});

describe("a reorg that one indexer sees first", () => {
  beforeEach(async () => {
    const { db } = database;
    await emit(db, core, [transfer(b1), transfer(b2)]);
    await emit(db, bazaar, [sale(b2), sale(b3)]);
    await record(coreIndexer);
    await record(added);
  });

  it("retracts the other's events of the block, and its blocks above, at once", async () => {
    const { db } = database;
    chainIs(b1, c2);
    await takeBack(db, core, [b2]);
    await emit(db, core, [transfer(c2)]);
    await record(coreIndexer);
    expect(await effective()).toEqual({ b1: [0], c2: [0] });

    // The other one still has the old branch, then follows.
    expect(await record(added)).toBe(0);
    await takeBack(db, bazaar, [b2, b3]);
    await emit(db, bazaar, [sale(c2)]);
    expect(await record(added)).toBe(1);
    expect(await effective()).toEqual({ b1: [0], c2: [0, 5] });
  });

  it("retracts a block at the height of a new one, of which only the other has events", async () => {
    chainIs(b1, b2, c3);
    await emit(database.db, core, [transfer(c3)]);
    await record(coreIndexer);
    expect(await effective()).toEqual({ b1: [0], b2: [0, 5], c3: [0] });
  });

  it("brings a block back when the chain returns to it", async () => {
    const { db } = database;
    chainIs(b1, c2);
    await takeBack(db, core, [b2]);
    await emit(db, core, [transfer(c2)]);
    await record(coreIndexer);
    chainIs(b1, b2, b3);
    await record(added);
    expect(await effective()).toEqual({ b1: [0], b2: [0, 5], b3: [5] });
    await takeBack(db, core, [c2]);
    await emit(db, core, [transfer(b2)]);
    expect(await record(coreIndexer)).toBe(0);
  });

  it("is seen for an indexer that stands still, from the chain", async () => {
    const { db } = database;
    const far = block(chainId, 20);
    await emit(db, core, [transfer(far)]);
    await record(coreIndexer);
    await indexedUpTo(bazaar, b3);
    await indexedUpTo(core, far);
    chainIs(b1, b2, c3, far);
    expect(await checkUnwatched()).toBe(1);
    expect(await effective()).toMatchObject({ b1: [0], b2: [0, 5] });
    expect(Object.keys(await effective())).not.toContain("b3");
    expect(await checkUnwatched()).toBe(0);
  });
});

describe("a removed source", () => {
  const setRemoved = (removedAt: Date | null) =>
    sql`
      insert into ops.source (chain_id, source, indexer, event_sources, added_by, removed_at)
      values (${chainId}, 'bazaar', ${coreIndexer}, '{Bazaar}', 'configuration', ${removedAt})
      on conflict (chain_id, source) do update set removed_at = excluded.removed_at`.execute(
      database.db,
    );

  it("is not recorded any more; its facts and other sources of its indexer are", async () => {
    const { db } = database;
    await emit(db, core, [transfer(b1), sale(b1)]);
    await record(coreIndexer);
    await setRemoved(new Date(0));
    await emit(db, core, [transfer(b2), sale(b2), sale(b3)]);
    expect(await record(coreIndexer)).toBe(1);
    await finalize(db, core, chainId, endOf(b3));
    expect(await record(coreIndexer)).toBe(0);
    expect(await effective()).toEqual({ b1: [0, 5], b2: [0] });
  });
});
