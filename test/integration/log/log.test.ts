import { sql } from "kysely";
import pg from "pg";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { appendObservations, type Observation } from "#projections/log/append.ts";
import { firstBlockId, readLogHead } from "#projections/log/blocks.ts";
import { openDatabase } from "#projections/log/database.ts";
import { kindList } from "#projections/log/fact-kinds.ts";
import {
  addressOf,
  appendEvents,
  appendEventsIn,
  type Block,
  block,
  type ChainEvent,
  setBlocks,
} from "#test/support/database/given.ts";
import { createDatabase } from "#test/support/database/postgres.ts";

const database = await createDatabase();
const { db, url } = database;

afterAll(() => database.drop());
beforeEach(async () => {
  await sql`truncate log.fact, log.block, log.transaction, log.contract`.execute(db);
  await sql`update log.head set position = 0`.execute(db);
});

function transfer(at: Block, logIndex = 0, subIndex = 0): ChainEvent {
  return {
    kind: "erc1155_transfer",
    block: at,
    logIndex,
    subIndex,
    contract: addressOf(50),
    tokenId: 7n,
    amount: 1n,
    from: addressOf(1),
    to: addressOf(2),
  };
}

function observation(number: number, basis?: Block): Observation {
  return {
    kind: "contract_described",
    chainId: 1,
    contract: addressOf(50),
    identity: `0x${number.toString(16).padStart(64, "0")}`,
    recordedAt: new Date(number),
    payload: { name: `Observed ${number}`, symbol: null, standard: null },
    ...(basis === undefined
      ? {}
      : { basis: { number: BigInt(basis.number), hash: basis.hash, timestamp: new Date(0) } }),
  };
}

async function positions(): Promise<bigint[]> {
  const { rows } = await sql<{ position: bigint }>`
    select position from log.fact order by position`.execute(db);
  return rows.map(({ position }) => position);
}

/** Facts that count at the log's head. */
async function counting(): Promise<number> {
  const { rows } = await sql<{ facts: bigint }>`
    select count(*) as facts from log.fact f
    where f.kind not in ${kindList("block_retracted", "block_readopted")} and not exists (
      select from log.retracted_blocks((select position from log.head)) d where d.block_id = f.block_id)`.execute(
    db,
  );
  return Number(rows[0]?.facts);
}

const upTo = (last: number) => Array.from({ length: last }, (_, index) => BigInt(index + 1));

describe("positions", () => {
  it("are dense in commit order, and readers see every row once, while eight append and some fail", async () => {
    const writers = openDatabase({
      url,
      applicationName: "writers",
      max: 8,
      onIdleError: () => {},
    });
    const lists: bigint[][] = [[], [], []];
    let writing = true;
    const readers = lists.map(async (list) => {
      const poll = async () => {
        const { rows } = await sql<{ position: bigint }>`
          select position from log.fact where position > ${list.at(-1) ?? 0n} order by position`.execute(
          db,
        );
        list.push(...rows.map(({ position }) => position));
      };
      while (writing) await poll();
      await poll();
    });

    const appended = await Promise.all(
      Array.from({ length: 8 }, async (_, writer) => {
        let facts = 0;
        for (let batch = 0; batch < 15; batch += 1) {
          const at = block(1, 1 + writer * 100 + batch);
          const events = Array.from({ length: 1 + ((writer + batch) % 5) }, (_, log) =>
            transfer(at, log),
          );
          if ((writer + batch) % 4 === 0)
            await expect(failAfter(writers, events)).rejects.toThrow("given up");
          else facts += (await appendEvents(writers, events)).appended;
        }
        return facts;
      }),
    );
    writing = false;
    await Promise.all(readers);
    await writers.destroy();

    const total = appended.reduce((sum, facts) => sum + facts, 0);
    expect(await readLogHead(db)).toBe(BigInt(total));
    for (const list of lists) expect(list).toEqual(upTo(total));
  });

  it("wait for nobody's open transaction, here or in another database of the server", async () => {
    const other = await createDatabase();
    const open = await Promise.all([url, other.url].map(beginAndWrite));
    try {
      await appendEvents(db, [transfer(block(1, 1))]);

      expect(await positions()).toEqual([1n]);
    } finally {
      for (const client of open) await client.end();
      await other.drop();
    }
  });
});

/** Appends events and then takes it all back. */
async function failAfter(writers: typeof db, events: readonly ChainEvent[]): Promise<void> {
  await writers.transaction().execute(async (session) => {
    await appendEventsIn(session, events);
    throw new Error("given up");
  });
}

async function beginAndWrite(where: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: where });
  await client.connect();
  await client.query("begin");
  await client.query("create table foreign_work (id int)");
  await client.query("select pg_current_xact_id()");
  return client;
}

describe("an event", () => {
  it("is one fact however often it is appended, in one batch or several", async () => {
    const events = [
      transfer(block(1, 1), 0, 0),
      transfer(block(1, 1), 0, 1),
      transfer(block(1, 1), 1),
    ];

    const first = await appendEvents(db, [...events, ...events]);
    const again = await appendEvents(db, events.toReversed());
    const mixed = await appendEvents(db, [...events, transfer(block(1, 2))]);

    expect([first, again, mixed]).toEqual([
      { appended: 3, head: 3n },
      { appended: 0, head: 3n },
      { appended: 1, head: 4n },
    ]);
    expect(await positions()).toEqual(upTo(4));
  });

  it("of one transaction mined in two blocks is a fact in each", async () => {
    const inMain = transfer(block(1, 1));
    await appendEvents(db, [inMain, transfer(block(1, 1, "fork"))]);

    expect(await counting()).toBe(2);
  });

  it("with the largest numbers that a chain can emit is kept exactly", async () => {
    const maximum = 2n ** 256n - 1n;
    await appendEvents(db, [
      { ...transfer(block(33139, 4_294_967_295)), tokenId: maximum, amount: maximum },
    ]);
    const { rows } =
      await sql`select token_id, amount, chain_id, number from log.fact join log.block using (block_id)`.execute(
        db,
      );

    expect(rows).toEqual([
      { token_id: maximum, amount: maximum, chain_id: 33139, number: 4_294_967_295n },
    ]);
  });

  it("beyond what a block id holds is refused and leaves nothing", async () => {
    await expect(appendEvents(db, [transfer(block(1, 2 ** 32))])).rejects.toThrow(
      "exceeds what a block id holds",
    );
    expect(await positions()).toEqual([]);
  });
});

describe("an observation", () => {
  it("without a block counts whatever the chains do", async () => {
    await appendObservations(db, [observation(1)]);
    await appendEvents(db, [transfer(block(1, 1))]);
    await setBlocks(db, "block_retracted", [block(1, 1)]);

    expect(await counting()).toBe(1);
  });

  it("is one fact for one identity", async () => {
    const first = await appendObservations(db, [observation(1), observation(2), observation(1)]);
    const again = await appendObservations(db, [observation(2), observation(3, block(1, 1))]);

    expect([first.appended, again.appended]).toEqual([2, 1]);
  });

  it("made at a block counts while the block does", async () => {
    const at = block(1, 5);
    await appendObservations(db, [observation(1, at)]);
    const counts = [await counting()];
    for (const state of ["block_retracted", "block_readopted"] as const) {
      await setBlocks(db, state, [at]);
      counts.push(await counting());
    }

    expect(counts).toEqual([1, 0, 1]);
  });

  it("made at a block that is dropped already does not count before the block returns", async () => {
    const at = block(1, 5);
    await appendEvents(db, [transfer(at)]);
    await setBlocks(db, "block_retracted", [at]);
    await appendObservations(db, [observation(1, at)]);
    const dropped = await counting();
    await setBlocks(db, "block_readopted", [at]);

    expect([dropped, await counting()]).toEqual([0, 2]);
  });
});

describe("a block", () => {
  it("has an id that orders its chain by height, several at a height apart", async () => {
    const forks = ["a", "b", "c"].map((branch) => block(1, 20, branch));
    await appendEvents(db, [transfer(block(1, 30)), transfer(block(33139, 5))]);
    for (const fork of forks) await appendEvents(db, [transfer(fork)]);
    await appendEvents(db, [
      transfer(block(1, 10)),
      transfer(block(33139, 4)),
      transfer(block(1, 20, "d")),
    ]);
    const { rows } = await sql<{ chain_id: number; number: bigint }>`
      select chain_id, number from log.block order by block_id`.execute(db);
    const ids = await sql<{ block_id: bigint }>`
      select block_id from log.block where number = 20 order by block_id`.execute(db);

    const numbers = rows.map(({ chain_id, number }) => `${chain_id}/${number}`);
    expect(numbers).toEqual(["1/10", "1/20", "1/20", "1/20", "1/20", "1/30", "33139/4", "33139/5"]);
    const first = firstBlockId(1, 20n);
    expect(ids.rows.map(({ block_id }) => block_id - first)).toEqual([0n, 1n, 2n, 3n]);
  });

  it("is retracted or readopted only where that changes something, and no row is touched", async () => {
    const at = [block(1, 1), block(1, 2)];
    await appendEvents(
      db,
      at.map((one) => transfer(one)),
    );
    const before = await rowsUpTo(2);
    const changed = [
      await setBlocks(db, "block_readopted", at),
      await setBlocks(db, "block_retracted", at),
      await setBlocks(db, "block_retracted", at),
      await setBlocks(db, "block_readopted", at.slice(0, 1)),
    ];

    expect(changed).toEqual([0, 2, 0, 1]);
    expect(await counting()).toBe(1);
    expect(await rowsUpTo(2)).toEqual(before);
    expect(await positions()).toEqual(upTo(5));
  });

  it("is retracted once by two who find out at the same time", async () => {
    const at = block(1, 1);
    await appendEvents(db, [transfer(at)]);

    const changed = await Promise.all([1, 2, 3].map(() => setBlocks(db, "block_retracted", [at])));

    expect(changed.sort()).toEqual([0, 0, 1]);
  });
});

async function rowsUpTo(position: number): Promise<unknown[]> {
  const { rows } = await sql`
    select f::text as row from log.fact f where position <= ${position} order by position`.execute(
    db,
  );
  return rows;
}
