import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type {
  PoolCoinReader,
  TransferReader,
} from "#projections/log/recording/missing-transfers.ts";
import { recordChain } from "#projections/log/recording/recorder.ts";
import { addressOf, block } from "#test/support/database/given.ts";
import { createDatabase, type TestDatabase } from "#test/support/database/postgres.ts";
import { createPonderTables, type Emitted, emit, endOf, finalize } from "./ponder-tables.ts";

const [factory, pool, later, stranger] = [1, 2, 3, 4].map(addressOf) as [
  ...[Address, Address, Address, Address],
];
type Address = ReturnType<typeof addressOf>;
const [b1, b2] = [block(1, 1), block(1, 2)];

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
  await createPonderTables(database.db, "ponder_1", 1);
});
afterAll(() => database.drop());

async function record(transfers?: TransferReader, poolCoins?: PoolCoinReader): Promise<void> {
  const recording = {
    ...{ chainId: 1, indexer: "core" },
    canonicalHashes: async () =>
      new Map(
        [1, 2, 3, 4, 5]
          .map((number) => block(1, number))
          .map(({ number, hash }) => [BigInt(number), hash]),
      ),
    ...(transfers === undefined ? {} : { transfers }),
    ...(poolCoins === undefined ? {} : { poolCoins }),
    now: () => new Date(0),
    fence: async () => {},
  };
  while ((await recordChain(database.db, recording)).more);
}

const created = (at: typeof b1, logIndex: number, address: Address): Emitted => {
  const event = { source: "SudoswapV1Factory", name: "NewPair", address: factory };
  return { ...event, block: at, logIndex, args: { pool: address } };
};
const swapped = (at: typeof b1, logIndex: number, address: Address): Emitted => {
  return { block: at, logIndex, source: "SudoswapV1", name: "SwapNFTOutPair", address, args: {} };
};

async function factories() {
  const { rows } = await sql<{ log: number; factory: string | null }>`
    select log_index as log, payload ->> 'factory' as factory from log.fact
    where kind = 35 order by block_id, log_index`.execute(database.db);
  return rows.map((row) => [row.log, row.factory]);
}

describe("an event of a pool", () => {
  it("has the factory that created the pool, in the same pass or earlier, else null", async () => {
    await emit(database.db, "ponder_1", [
      created(b1, 1, pool),
      swapped(b1, 2, pool),
      swapped(b1, 3, stranger),
    ]);
    await finalize(database.db, "ponder_1", 1, endOf(b1));
    await record();
    expect(await factories()).toEqual([
      [2, factory],
      [3, null],
    ]);
    await emit(database.db, "ponder_1", [
      swapped(b2, 4, pool),
      created(b2, 5, later),
      swapped(b2, 6, later),
    ]);
    await record();
    expect((await factories()).slice(2)).toEqual([
      [4, factory],
      [6, factory],
    ]);
  });

  it("is recorded when its text holds what jsonb does not, as a name that anyone may choose", async () => {
    const named = (text: string) => ({ vaultId: "1", pool, assetAddress: later, name: text });
    const event = { source: "NftxV3NamedFactory", name: "NewVault", address: factory, block: b2 };
    const texts = ["a\0b", "\0\0", "\\u0000", "\\\0\\\\u0000", '\\\\\0"\0'];
    const events = texts.map((_, index) => ({ ...event, logIndex: 10 + index, args: {} }));
    await emit(database.db, "ponder_1", events);
    for (const [index, text] of texts.entries())
      await sql`
        update ponder_1.event set args = ${JSON.stringify(named(text))}::json
        where log_index = ${10 + index}`.execute(database.db);
    await record();
    const { rows } = await sql<{ pool: string }>`
      select '0x' || encode(to_address, 'hex') as pool from log.fact where log_index >= 10`.execute(
      database.db,
    );
    expect(rows).toEqual(texts.map(() => ({ pool })));
  });

  it("of a pool that no factory created is stored without transfers, and leaves them to the next of its source", async () => {
    const at = block(1, 3);
    const transactionIndex = 7;
    const events = [swapped(at, 20, stranger), swapped(at, 21, pool), swapped(at, 22, pool)];
    await emit(
      database.db,
      "ponder_1",
      [...events, created(at, 23, addressOf(5)), swapped(at, 24, addressOf(5))].map((event) => ({
        ...event,
        transactionIndex: event.logIndex === 24 ? 8 : transactionIndex,
      })),
    );
    await emit(database.db, "ponder_1", [{ ...swapped(at, 25, stranger), transactionIndex: 9 }]);
    const requested: number[] = [];
    await record({
      events: [{ source: "SudoswapV1", name: "SwapNFTOutPair" }],
      fetch: async (transactions) => {
        requested.push(...transactions.map(({ hash }) => Number(hash.slice(-8))));
        return new Map(transactions.map(({ hash }) => [hash, [{ of: hash }]]));
      },
    });
    const { rows } = await sql<{ log: number; stored: boolean }>`
      select log_index as log, payload ? 'transfers' as stored from log.fact
      where kind = 35 and log_index >= 20 order by log_index`.execute(database.db);
    expect(rows.filter(({ stored }) => stored).map(({ log }) => log)).toEqual([21, 24]);
    expect(requested).toEqual([7, 8]);
  });

  it("has the coin that its pool is paid in, if a factory created the pool; each pool is asked once a pass", async () => {
    const at = block(1, 4);
    const [ether, silent, unasked] = [6, 7, 8].map(addressOf) as [Address, Address, Address];
    const ofVersion2 = (event: Emitted): Emitted =>
      event.name === "NewPair"
        ? { ...event, source: "SudoswapV2Factory", name: "NewERC721Pair" }
        : { ...event, source: "SudoswapV2" };
    const events = [
      created(at, 30, ether),
      swapped(at, 31, ether),
      swapped(at, 32, ether),
      created(at, 33, silent),
      swapped(at, 34, silent),
      swapped(at, 35, stranger),
    ].map(ofVersion2);
    const asked: string[][] = [];
    const transfers: TransferReader = {
      events: [{ source: "SudoswapV2", name: "SwapNFTOutPair" }],
      fetch: async (transactions) => new Map(transactions.map(({ hash }) => [hash, []])),
    };
    let isDown = true;
    const read: PoolCoinReader = async (pools) => {
      if (isDown) throw new Error("the node is down");
      asked.push([...pools]);
      return Object.fromEntries(pools.map((pool) => [pool, pool === silent ? null : later]));
    };
    const coins = async () => {
      const { rows } = await sql<{ log: number; isStored: boolean; coin: string | null }>`
        select log_index as log, payload ? 'coin' as "isStored", payload ->> 'coin' as coin from log.fact
        where kind = 35 and log_index >= 30 order by log_index`.execute(database.db);
      return rows.map(({ log, isStored, coin }) => [log, isStored ? coin : "not asked"]);
    };
    await emit(database.db, "ponder_1", events);
    await expect(record(transfers, read)).rejects.toThrow("the node is down");
    expect(await coins()).toEqual([]);
    isDown = false;
    await record(transfers, read);
    const first = [
      ...[
        [31, later],
        [32, later],
        [34, null],
      ],
      [35, "not asked"],
    ];
    expect(await coins()).toEqual(first);
    const swaps = [swapped(block(1, 5), 40, ether), swapped(block(1, 5), 41, unasked)];
    await emit(database.db, "ponder_1", swaps.map(ofVersion2));
    await record(transfers, read);
    expect(await coins()).toEqual([...first, [40, later], [41, "not asked"]]);
    expect(asked).toEqual([[ether, silent], [ether]]);
  });
});
