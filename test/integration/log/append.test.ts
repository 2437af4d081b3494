import { sql } from "kysely";
import type { Address, Hex } from "viem";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { appendObservations, type Observation } from "#projections/log/append.ts";
import { randomFrom } from "#test/simulation/random.ts";
import { addressOf, appendEvents, block, type ChainEvent } from "#test/support/database/given.ts";
import { createDatabase } from "#test/support/database/postgres.ts";

const database = await createDatabase();
const { db } = database;

afterAll(() => database.drop());
beforeEach(async () => {
  await sql`truncate log.fact, log.block, log.transaction, log.contract restart identity`.execute(
    db,
  );
  await sql`update log.head set position = 0`.execute(db);
});

/** Stages below and above the size from which statements are planned each time. */
const sizes = [
  ["few", 30],
  ["many", 1_300],
] as const;

/** Number `index` of a chain's events, ten to a block, of a contract for each hundred. */
function event(index: number, branch = "main"): ChainEvent {
  return {
    kind: "erc1155_transfer",
    block: block(1, 1 + Math.floor(index / 10), branch),
    logIndex: Math.floor((index % 10) / 2),
    subIndex: index % 2,
    contract: addressOf(50 + Math.floor(index / 100)),
    tokenId: BigInt(index),
    amount: 1n,
    from: addressOf(1),
    to: addressOf(2),
  };
}

const events = (from: number, to: number, branch?: string) =>
  Array.from({ length: to - from }, (_, index) => event(from + index, branch));

const keyOf = (one: ChainEvent) =>
  `${one.block.hash} ${one.logIndex} ${one.subIndex} ${one.contract} ${one.tokenId}`;

/** The log's events in their order, each as `keyOf` has it; a gap is reported. */
async function keys(): Promise<string[]> {
  const { rows } = await sql<{ key: string; position: bigint }>`
    select f.position, concat_ws(' ', '0x' || encode(b.hash, 'hex'), f.log_index, f.sub_index,
                                 '0x' || encode(c.address, 'hex'), f.token_id) as key
    from log.fact f left join log.block b using (block_id) left join log.contract c using (contract_id)
    order by f.position`.execute(db);
  return rows.map(({ key, position }, index) =>
    position === BigInt(index + 1) ? key : `${position} in place of ${index + 1}`,
  );
}

async function rowsOf(table: string): Promise<number> {
  const { rows } = await sql<{ rows: bigint }>`
    select count(*) as rows from ${sql.table(`log.${table}`)}`.execute(db);
  return Number(rows[0]?.rows);
}

describe.each(sizes)("of %s facts in one append", (_, size) => {
  it("one that is there twice is stored once, where it is first", async () => {
    const half = events(0, size / 2);
    const { appended, head } = await appendEvents(db, [...half, ...half.toReversed()]);

    expect([appended, head]).toEqual([half.length, BigInt(half.length)]);
    expect(await keys()).toEqual(half.map(keyOf));
  });

  it("those of a block that the log holds in part are stored behind what it holds", async () => {
    await appendEvents(db, events(5, size - 5));
    const { appended } = await appendEvents(db, events(0, size));
    const added = [...events(0, 5), ...events(size - 5, size)];

    expect(appended).toBe(added.length);
    expect(await keys()).toEqual([...events(5, size - 5), ...added].map(keyOf));
    expect([await rowsOf("block"), await rowsOf("transaction")]).toEqual([size / 10, size / 2]);
  });

  it("a contract that the log does not know has one id, whether events or orders name it", async () => {
    const unknown: Address = addressOf(999);
    const item = (token: Address) => ({ itemType: 2, token, identifier: "1", amount: "1" });
    const sold: ChainEvent[] = events(0, size).map((one) => ({
      ...one,
      kind: "order_fulfilled",
      payload: { offer: [item(unknown)], consideration: [item(one.contract), item(unknown)] },
    }));
    await appendEvents(db, [...sold, { ...event(size), contract: unknown }]);

    expect(await rowsOf("contract")).toBe(new Set(sold.map((one) => one.contract)).size + 1);
    expect(await keys()).toHaveLength(size + 1);
  });

  it("an observation that is there twice, or that the log holds, is stored once", async () => {
    const twice = [...observations(0, size / 2), ...observations(0, size / 2)];
    const first = await appendObservations(db, twice);
    const second = await appendObservations(db, observations(size / 2 - 5, size));

    expect([first.appended, second.appended]).toEqual([size / 2, size / 2]);
    expect(second.head).toBe(BigInt(size));
    expect(await rowsOf("block")).toBe(2);
  });
});

/** Of two blocks in turn, of one contract. */
function observations(from: number, to: number): Observation[] {
  return Array.from({ length: to - from }, (_, index): Observation => {
    const { number, hash } = block(1, 1 + (index % 2));
    const identity: Hex = `0x${(from + index).toString(16).padStart(64, "0")}`;
    return {
      kind: "contract_described",
      chainId: 1,
      contract: addressOf(50),
      identity,
      recordedAt: new Date(0),
      basis: { number: BigInt(number), hash, timestamp: new Date(0) },
      payload: { name: "Observed", symbol: null, standard: null },
    };
  });
}

describe("appends of any events, one after the other", () => {
  it.each([1, 2, 3])("store each once, in the order of the first, seed %i", async (seed) => {
    const random = randomFrom(seed);
    const held: string[] = [];
    for (let append = 0; append < 14; append += 1) {
      const size = append % 5 === 4 ? 1_200 : random.int(1, 60);
      const branch = random.chance(0.3) ? "fork" : "main";
      const staged = Array.from({ length: size }, () => event(random.int(0, 899), branch));
      const fresh = [...new Set(staged.map(keyOf))].filter((key) => !held.includes(key));
      held.push(...fresh);

      expect(await appendEvents(db, staged)).toEqual({
        appended: fresh.length,
        head: BigInt(held.length),
      });
    }

    expect(await keys()).toEqual(held);
  });
});
