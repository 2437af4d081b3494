import { sql } from "kysely";
import { type Address, keccak256, stringToHex } from "viem";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { appendObservations } from "#projections/log/append.ts";
import { checkObservationBlocks } from "#projections/log/audit.ts";
import { kindLiteral } from "#projections/log/fact-kinds.ts";
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
  recordFrom,
  takeBack,
} from "./ponder-tables.ts";

let database: TestDatabase;
let schemas = 0;
let schema: string;
/** What the chain says of each height; undefined while it cannot be asked. */
let chain: Map<bigint, string | null> | undefined;

beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());

beforeEach(async () => {
  await sql`truncate log.fact, log.block, log.transaction, log.contract, ops.recorder, ops.recorded_block, ops.indexer`.execute(
    database.db,
  );
  await sql`update log.head set position = 0`.execute(database.db);
  schema = await nextSchema();
  chain = undefined;
});

async function nextSchema(chainId = 1, indexer: string = coreIndexer): Promise<string> {
  schemas += 1;
  const name = `ponder_${schemas}`;
  await createPonderTables(database.db, name, chainId, indexer);
  return name;
}

async function record(chainId = 1, indexer: string = coreIndexer) {
  const recording = { chainId, indexer, canonicalHashes, now, fence: async () => {} };
  return await recordChain(database.db, recording);
}

const now = () => new Date(0);

async function canonicalHashes(numbers: readonly bigint[]): Promise<Map<bigint, string | null>> {
  const known = chain;
  if (known === undefined) throw new Error("the chain cannot be asked");
  return new Map(numbers.map((number) => [number, known.get(number) ?? null]));
}

async function recordAll(chainId = 1, indexer: string = coreIndexer): Promise<number> {
  let appended = 0;
  for (;;) {
    const pass = await record(chainId, indexer);
    appended += pass.appended;
    if (!pass.more) return appended;
  }
}

/** The chain knows these blocks and is as long as them. */
function chainIs(...blocks: Block[]) {
  chain = new Map(blocks.map(({ number, hash }) => [BigInt(number), hash]));
}

const nft = addressOf(50);
const alice = addressOf(1);
const bob = addressOf(2);

function transfer(at: Block, logIndex = 0, tokenId = at.number): Emitted {
  const args = { from: zeroAddress, to: alice, tokenId: String(tokenId) };
  return { block: at, logIndex, name: "Transfer", address: nft, args };
}

/** Names of blocks whose events count, with the number of them. */
async function counting(blocks: Record<string, Block>): Promise<Record<string, number>> {
  const { rows } = await sql<{ hash: string; facts: bigint }>`
    select b.hash, count(*) as facts from log.fact f join log.block b using (block_id)
    where f.log_index is not null
      and f.block_id not in (select block_id from log.retracted_blocks((select position from log.head)))
    group by b.hash`.execute(database.db);
  const names = Object.entries(blocks);
  return Object.fromEntries(
    rows
      .map(({ hash, facts }) => [
        names.find(([, one]) => one.hash === hash)?.[0] ?? hash,
        Number(facts),
      ])
      .sort(),
  );
}

const b1 = block(1, 1);
const b2 = block(1, 2);
const b3 = block(1, 3);
const c2 = block(1, 2, "fork");
const c3 = block(1, 3, "fork");
const blocks = { b1, b2, b3, c2, c3 };

describe("recording", () => {
  it("takes the backlog in chunks that may cut a block and a transaction, and nothing twice", async () => {
    const big = Array.from({ length: 12_500 }, (_, index) =>
      transfer(index < 5 ? b1 : b2, index, index),
    );
    await emit(database.db, schema, big);
    await finalize(database.db, schema, 1, endOf(b2));

    const passes = [await record(), await record(), await record()];

    expect(passes.map(({ appended, more }) => [appended, more])).toEqual([
      [10_000, true],
      [2_500, true],
      [0, false],
    ]);
    expect(await counting(blocks)).toEqual({ b1: 5, b2: 12_495 });
  });

  it("appends unfinalized events once, also those that join a block later", async () => {
    await emit(database.db, schema, [transfer(b1), transfer(b2)]);
    expect(await recordAll()).toBe(2);
    await emit(database.db, schema, [transfer(b2, 1)]);
    expect(await recordAll()).toBe(1);
    expect(await recordAll()).toBe(0);
    await finalize(database.db, schema, 1, endOf(b2));
    expect(await recordAll()).toBe(0);
    expect(await counting(blocks)).toEqual({ b1: 1, b2: 2 });
  });

  it("adds nothing from a new schema that replays everything", async () => {
    const events = [transfer(b1), transfer(b1, 1), transfer(b2), transfer(b3)];
    await emit(database.db, schema, events);
    await finalize(database.db, schema, 1, endOf(b1));
    await recordAll();
    const other = await nextSchema();
    await emit(database.db, other, events);
    await finalize(database.db, other, 1, endOf(b2));

    expect(await recordAll()).toBe(0);
    expect(await counting(blocks)).toEqual({ b1: 2, b2: 1, b3: 1 });
  });

  it("takes other events of the same blocks from a schema of another configuration", async () => {
    await emit(database.db, schema, [transfer(b1, 0), transfer(b2, 0), transfer(b2, 1)]);
    await recordAll();
    const other = await nextSchema();
    await emit(database.db, other, [transfer(b1, 7), transfer(b2, 7)]);
    chainIs(b1, b2);
    await recordAll();
    await finalize(database.db, other, 1, endOf(b2));

    await recordAll();

    expect(await counting(blocks)).toEqual({ b1: 2, b2: 3 });
  });

  it("keeps what Ponder lacks while it is canonical on the chain", async () => {
    await emit(database.db, schema, [transfer(b1), transfer(b2), transfer(b3)]);
    await recordAll();
    chainIs(b1, b2, b3);

    await takeBack(database.db, schema, [b1, b2, b3]);
    const empty = await recordAll();
    await emit(database.db, schema, [transfer(b1), transfer(b2)]);
    const half = await recordAll();
    await emit(database.db, schema, [transfer(b3)]);
    const whole = await recordAll();

    expect([empty, half, whole]).toEqual([0, 0, 0]);
    expect(await counting(blocks)).toEqual({ b1: 1, b2: 1, b3: 1 });
  });
});

describe("a reorg", () => {
  beforeEach(async () => {
    await emit(database.db, schema, [transfer(b1), transfer(b2), transfer(b3)]);
    await recordAll();
    await takeBack(database.db, schema, [b2, b3]);
  });

  it("is retracted and replaced in one transaction", async () => {
    await emit(database.db, schema, [transfer(c2), transfer(c3)]);
    chainIs(b1, c2, c3);
    const seen = new Set<string>();
    let watching = true;
    const watcher = (async () => {
      while (watching) seen.add(JSON.stringify(await counting(blocks)));
    })();

    const pass = await record();
    watching = false;
    await watcher;

    expect(pass).toEqual({ appended: 4, more: false, held: 0 });
    expect(await counting(blocks)).toEqual({ b1: 1, c2: 1, c3: 1 });
    const before = JSON.stringify({ b1: 1, b2: 1, b3: 1 });
    const after = JSON.stringify({ b1: 1, c2: 1, c3: 1 });
    expect([before, after]).toEqual(expect.arrayContaining([...seen]));
    expect(await record()).toEqual({ appended: 0, more: false, held: 0 });
  });

  it("changes nothing while the chain cannot be asked, and holds only that chain", async () => {
    await emit(database.db, schema, [transfer(c2)]);
    const ape = await nextSchema(33139);
    const a1 = block(33139, 1);
    await emit(database.db, ape, [transfer(a1)]);

    await expect(record(1)).rejects.toThrow("the chain cannot be asked");

    expect(await recordAll(33139)).toBe(1);
    expect(await counting({ ...blocks, a1 })).toEqual({ a1: 1, b1: 1, b2: 1, b3: 1 });
  });

  it("waits while the chain is too short to tell", async () => {
    await emit(database.db, schema, [transfer(c2)]);
    chainIs(b1);

    const pass = await record();

    expect(pass).toMatchObject({ appended: 0 });
    expect(pass.held).toBeGreaterThan(0);
    expect(await counting(blocks)).toEqual({ b1: 1, b2: 1, b3: 1 });
  });

  it("takes with it what stood above the fork where the chain is shorter", async () => {
    await emit(database.db, schema, [transfer(c2)]);
    chainIs(b1, c2);

    await record();

    expect(await counting(blocks)).toEqual({ b1: 1, c2: 1 });
  });

  it("does not settle a height while the chain is shorter than it", async () => {
    await finalize(database.db, schema, 1, endOf(b3));
    chainIs(b1);
    const waiting = await record();
    chainIs(b1, c2, c3);
    await recordAll();

    expect(waiting).toMatchObject({ appended: 0, more: false });
    expect(waiting.held).toBeGreaterThan(0);
    expect(await counting(blocks)).toEqual({ b1: 1 });
  });

  it("is taken back when the chain returns to the dropped branch", async () => {
    await emit(database.db, schema, [transfer(c2), transfer(c3)]);
    chainIs(b1, c2, c3);
    await record();
    await takeBack(database.db, schema, [c2, c3]);
    await emit(database.db, schema, [transfer(b2), transfer(b3), transfer(b3, 1)]);
    chainIs(b1, b2, b3);

    const pass = await record();

    expect(pass).toEqual({ appended: 5, more: false, held: 0 });
    expect(await counting(blocks)).toEqual({ b1: 1, b2: 1, b3: 2 });
  });

  it("leaves dropped what Ponder still shows and the chain does not", async () => {
    await emit(database.db, schema, [transfer(c2)]);
    chainIs(b1, c2, c3);
    await record();
    await emit(database.db, schema, [transfer(b2, 3)]);

    const passes = [await record(), await record()];

    expect(passes.map(({ held }) => held)).toEqual([0, 0]);
    expect(await counting(blocks)).toEqual({ b1: 1, c2: 1 });
    await finalize(database.db, schema, 1, endOf(c3));
    await recordAll();
    expect(await record()).toEqual({ appended: 0, more: false, held: 0 });
    expect(await counting(blocks)).toEqual({ b1: 1, c2: 1 });
  });
});

describe("an observation", () => {
  const finalityBlocks = 2;

  beforeEach(async () => {
    await sql`truncate ops.observation_check`.execute(database.db);
    await emit(database.db, schema, [transfer(b1)]);
    await recordAll();
  });

  const review = () =>
    checkObservationBlocks(
      database.db,
      { chainId: 1, canonicalHashes, now, fence: async () => {} },
      finalityBlocks,
    );

  async function observe(at?: Block) {
    const basis = at && {
      number: BigInt(at.number),
      hash: at.hash,
      timestamp: new Date(at.timestamp * 1000),
    };
    const identity = keccak256(stringToHex(`seen at ${at?.hash}`));
    const fact = { kind: "contract_described", chainId: 1, contract: nft, identity } as const;
    await appendObservations(database.db, [
      { ...fact, recordedAt: now(), ...(basis === undefined ? {} : { basis }) },
    ]);
  }

  /** Names of the blocks whose observations are effective; "none": those without one. */
  async function believed(): Promise<string[]> {
    const { rows } = await sql<{ hash: string | null }>`
      select b.hash from log.fact f left join log.block b using (block_id)
      where f.kind = ${kindLiteral("contract_described")}
        and not exists (
          select from log.retracted_blocks((select position from log.head)) d where d.block_id = f.block_id)`.execute(
      database.db,
    );
    const names = Object.entries(blocks);
    return rows.map(({ hash }) => names.find(([, one]) => one.hash === hash)?.[0] ?? "none").sort();
  }

  it("made at a block that the chain dropped is believed again only when the block returns", async () => {
    await observe(b2);
    await observe();
    chainIs(b1, b2);
    expect(await review()).toBe(0);
    expect(await believed()).toEqual(["b2", "none"]);

    chainIs(b1, c2, c3);
    expect(await review()).toBe(1);
    expect(await review()).toBe(0);
    expect(await believed()).toEqual(["none"]);

    await observe(c3);
    expect(await review()).toBe(0);
    expect(await believed()).toEqual(["c3", "none"]);

    chainIs(b1, b2, b3);
    expect(await review()).toBe(2);
    expect(await believed()).toEqual(["b2", "none"]);
  });

  it("stays while the chain is too short to tell, or cannot be asked", async () => {
    await observe(b2);
    chainIs(b1);
    expect(await review()).toBe(0);
    chain = undefined;
    await expect(review()).rejects.toThrow("the chain cannot be asked");
    expect(await believed()).toEqual(["b2"]);
  });

  it("made at a block whose events come later shares their fate", async () => {
    await observe(b2);
    chainIs(b1, c2);
    await review();
    chainIs(b1, b2);
    await emit(database.db, schema, [transfer(b2)]);
    await finalize(database.db, schema, 1, endOf(b2));

    await recordAll();

    expect(await counting(blocks)).toEqual({ b1: 1, b2: 1 });
    expect(await believed()).toEqual(["b2"]);
  });

  it("is compared with the chain until it is final, however long nobody looked", async () => {
    await observe(b2);
    await indexUpTo(9);
    chainIs(b1, c2);
    expect(await review()).toBe(1);

    await observe(c2);
    chain = undefined;
    expect(await review()).toBe(0);
  });

  async function indexUpTo(number: number) {
    await sql`
      update ${sql.table(`${schema}._ponder_checkpoint`)}
      set latest_checkpoint = ${endOf(block(1, number))}`.execute(database.db);
  }

  it("near the head is compared with the chain, however many older ones are not final yet", async () => {
    const older = Array.from({ length: 1_100 }, (_, index) => block(1, 10 + index));
    for (const one of older) await observe(one);
    const [gone, instead] = [block(1, 2_000), block(1, 2_000, "fork")];
    await observe(gone);
    chainIs(...older, gone);
    expect(await review()).toBe(0);
    chainIs(...older, instead);

    expect(await review()).toBe(1);
  });

  it("between the oldest and the newest is compared too before it is final", async () => {
    const all = Array.from({ length: 1_100 }, (_, index) => block(1, 10 + index));
    for (const one of all) await observe(one);
    const instead = block(1, 560, "fork");
    chainIs(...all.map((one) => (one.number === instead.number ? instead : one)));
    await indexUpTo(2_000);
    const changed = [await review(), await review(), await review()];

    expect(changed).toEqual([0, 1, 0]);
  });

  it("is fenced like an event: nothing is written for one who no longer works", async () => {
    await observe(b2);
    chainIs(b1, c2);
    const fence = async () => {
      throw new Error("another works");
    };
    const recording = { chainId: 1, indexer: coreIndexer, canonicalHashes, now, fence };
    await emit(database.db, schema, [transfer(c2)]);

    await expect(checkObservationBlocks(database.db, recording, finalityBlocks)).rejects.toThrow(
      "another",
    );
    await expect(recordChain(database.db, recording)).rejects.toThrow("another");

    expect(await believed()).toEqual(["b2"]);
    expect(await counting(blocks)).toEqual({ b1: 1 });
  });
});

describe("what an event becomes", () => {
  const exchange: Address = addressOf(70);
  const weth = addressOf(71);
  const conduit = addressOf(72);
  const orderHash = `0x${"ab".repeat(32)}`;
  const zone = addressOf(73);
  const maximum = (2n ** 256n - 1n).toString();
  const offer = [{ itemType: 2, token: nft, identifier: maximum, amount: "1" }];
  const consideration = [
    { itemType: 0, token: zeroAddress, identifier: "0", amount: "5", recipient: alice },
  ];

  const cases: [string, Omit<Emitted, "block" | "logIndex">, Record<string, unknown>][] = [
    [
      "Transfer of an ERC-721",
      { name: "Transfer", address: nft, args: { from: alice, to: bob, tokenId: maximum } },
      { kind: 10, contract: nft, from: alice, to: bob, token_id: BigInt(maximum) },
    ],
    [
      "ConsecutiveTransfer",
      {
        name: "ConsecutiveTransfer",
        address: nft,
        args: { fromTokenId: "5", toTokenId: "9", fromAddress: zeroAddress, toAddress: bob },
      },
      { kind: 11, contract: nft, from: zeroAddress, to: bob, token_id: 5n, amount: 5n },
    ],
    [
      "ConsecutiveTransfer that ends before it begins",
      {
        name: "ConsecutiveTransfer",
        address: nft,
        args: { fromTokenId: maximum, toTokenId: "0", fromAddress: zeroAddress, toAddress: bob },
      },
      {
        kind: 11,
        contract: nft,
        from: zeroAddress,
        to: bob,
        token_id: BigInt(maximum),
        amount: 1n - BigInt(maximum),
      },
    ],
    [
      "TransferSingle",
      {
        source: "Erc1155",
        name: "TransferSingle",
        address: nft,
        args: { operator: conduit, from: alice, to: bob, id: "7", value: maximum },
      },
      { kind: 12, contract: nft, from: alice, to: bob, token_id: 7n, amount: BigInt(maximum) },
    ],
    [
      "ApprovalForAll",
      {
        source: "ConduitApproval",
        name: "ApprovalForAll",
        address: nft,
        args: { owner: alice, operator: conduit, approved: false },
      },
      { kind: 20, contract: nft, from: alice, to: conduit, amount: 0n },
    ],
    [
      "Approval",
      {
        source: "ExchangeApproval",
        name: "Approval",
        address: weth,
        args: { owner: alice, spender: exchange, value: maximum },
      },
      { kind: 21, contract: weth, from: alice, to: exchange, amount: BigInt(maximum) },
    ],
    [
      "Transfer of wrapped money",
      {
        source: "WrappedNative",
        name: "Transfer",
        address: weth,
        args: { src: alice, dst: bob, wad: "3" },
      },
      { kind: 22, contract: weth, from: alice, to: bob, amount: 3n },
    ],
    [
      "Deposit",
      { source: "WrappedNative", name: "Deposit", address: weth, args: { dst: alice, wad: "3" } },
      { kind: 23, contract: weth, to: alice, amount: 3n },
    ],
    [
      "Withdrawal",
      {
        source: "WrappedNative",
        name: "Withdrawal",
        address: weth,
        args: { src: alice, wad: "3" },
      },
      { kind: 24, contract: weth, from: alice, amount: 3n },
    ],
    [
      "OrderFulfilled",
      {
        source: "Seaport",
        name: "OrderFulfilled",
        address: exchange,
        sender: bob,
        target: exchange,
        calldataTail: "0x01020304",
        args: { orderHash, offerer: alice, zone, recipient: bob, offer, consideration },
      },
      {
        kind: 30,
        contract: exchange,
        from: alice,
        to: bob,
        order_hash: orderHash,
        payload: {
          zone,
          offer,
          consideration,
          sender: bob,
          target: exchange,
          calldataTail: "0x01020304",
        },
      },
    ],
    [
      "OrderCancelled",
      {
        source: "Seaport",
        name: "OrderCancelled",
        address: exchange,
        args: { orderHash, offerer: alice, zone },
      },
      { kind: 31, contract: exchange, from: alice, order_hash: orderHash, payload: { zone } },
    ],
    [
      "CounterIncremented",
      {
        source: "Seaport",
        name: "CounterIncremented",
        address: exchange,
        args: { newCounter: maximum, offerer: alice },
      },
      { kind: 32, contract: exchange, from: alice, amount: BigInt(maximum) },
    ],
    [
      "OrderValidated",
      {
        source: "Seaport",
        name: "OrderValidated",
        address: exchange,
        args: { orderHash, orderParameters: { offerer: alice, salt: "1" } },
      },
      {
        kind: 33,
        contract: exchange,
        from: alice,
        order_hash: orderHash,
        payload: { orderParameters: { offerer: alice, salt: "1" } },
      },
    ],
    [
      "OrdersMatched",
      {
        source: "Seaport",
        name: "OrdersMatched",
        address: exchange,
        args: { orderHashes: [orderHash] },
      },
      { kind: 34, contract: exchange, payload: { orderHashes: [orderHash] } },
    ],
    [
      "an event of another exchange, named like a known one",
      {
        source: "Bazaar",
        name: "OrderFulfilled",
        address: exchange,
        sender: bob,
        target: exchange,
        calldataTail: "0x01020304",
        args: { orderHash: "not a hash", tokenId: ["7"], value: { of: "it" } },
      },
      {
        kind: 35,
        contract: exchange,
        payload: {
          source: "Bazaar",
          event: "OrderFulfilled",
          args: { orderHash: "not a hash", tokenId: ["7"], value: { of: "it" } },
          sender: bob,
          target: exchange,
          calldataTail: "0x01020304",
        },
      },
    ],
    [
      "ChannelUpdated",
      {
        source: "Conduit",
        name: "ChannelUpdated",
        address: conduit,
        args: { channel: exchange, open: true },
      },
      { kind: 40, contract: conduit, to: exchange, amount: 1n },
    ],
  ];

  it.each(cases)("%s", async (_, emitted, expected) => {
    await emit(database.db, schema, [{ ...emitted, block: b1, logIndex: 4, transactionIndex: 2 }]);

    await recordAll();

    const empty = {
      token_id: null,
      amount: null,
      from: null,
      to: null,
      order_hash: null,
      payload: null,
    };
    expect(await facts()).toEqual([
      { ...empty, sub_index: 0, log_index: 4, transaction_index: 2, ...expected },
    ]);
  });

  it("a TransferBatch is a fact per element, an empty one none", async () => {
    const batch = (logIndex: number, ids: string[], values: string[]): Emitted => {
      const args = { operator: bob, from: alice, to: bob, ids, values };
      return { block: b1, logIndex, source: "Erc1155", name: "TransferBatch", address: nft, args };
    };
    await emit(database.db, schema, [
      batch(0, [], []),
      batch(1, ["7", "8", "7"], ["1", "0", "5"]),
      batch(2, ["1", "2"], ["9"]),
      batch(3, [], ["9"]),
      { ...batch(0, [], []), block: b2 },
    ]);

    expect(await recordAll()).toBe(4);
    const rows = await facts();
    expect(rows.map((row) => [row.log_index, row.sub_index, row.token_id, row.amount])).toEqual([
      [1, 0, 7n, 1n],
      [1, 1, 8n, 0n],
      [1, 2, 7n, 5n],
      [2, 0, 1n, 9n],
    ]);
  });

  it("a block of empty batches asks nothing of the log again", async () => {
    const args = { operator: bob, from: alice, to: bob, ids: [], values: [] };
    await emit(database.db, schema, [
      { block: b1, logIndex: 0, source: "Erc1155", name: "TransferBatch", address: nft, args },
      transfer(b1, 1),
    ]);
    await recordAll();
    const release = await holdHead();
    const waits = new Promise((resolve) => setTimeout(resolve, 5_000, "waits for the log's head"));

    const outcome = await Promise.race([record(), waits]);
    await release();

    expect(outcome).toEqual({ appended: 0, more: false, held: 0 });
  });

  async function facts(): Promise<Record<string, unknown>[]> {
    const { rows } = await sql<Record<string, unknown>>`
      select f.kind, c.address as contract, f.transaction_index, f.log_index, f.sub_index, f.token_id, f.amount,
             f.from_address as "from", f.to_address as "to", f.order_hash, f.payload
      from log.fact f left join log.contract c using (contract_id) order by f.position`.execute(
      database.db,
    );
    return rows;
  }
});

/** Keeps every appender waiting until the returned function is called. */
async function holdHead(): Promise<() => Promise<void>> {
  let release: () => void = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  let held: () => void = () => {};
  const holding = new Promise<void>((resolve) => {
    held = resolve;
  });
  const transaction = database.db.transaction().execute(async (session) => {
    await sql`select from log.head for update`.execute(session);
    held();
    await released;
  });
  await holding;
  return async () => {
    release();
    await transaction;
  };
}

it("has nothing to do before Ponder has tables", async () => {
  await recordFrom(database.db, "not_there_yet", 1);
  expect(await record()).toEqual({ appended: 0, more: false, held: 0 });
});
