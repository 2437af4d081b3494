import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  readMissingTransfers,
  type TransactionRef,
} from "#projections/log/recording/missing-transfers.ts";
import { afterAllIds } from "#projections/log/recording/ponder-events.ts";
import { recordChain } from "#projections/log/recording/recorder.ts";
import { addressOf, block } from "#test/support/database/given.ts";
import { createDatabase, type TestDatabase } from "#test/support/database/postgres.ts";
import {
  createPonderTables,
  type Emitted,
  emit,
  endOf,
  finalize,
  recordFrom,
} from "./ponder-tables.ts";

let database: TestDatabase;
let schemas = 0;
let schema: string;
/** Transactions whose receipts were read, in order. */
let requested: string[];
let isDown: boolean;

const b1 = block(1, 1);
const b2 = block(1, 2);
const b3 = block(1, 3);

beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());

beforeEach(async () => {
  await sql`truncate log.fact, log.block, log.transaction, log.contract, ops.recorder, ops.indexer`.execute(
    database.db,
  );
  await sql`update log.head set position = 0`.execute(database.db);
  schema = await nextSchema();
  requested = [];
  isDown = false;
});

async function nextSchema(): Promise<string> {
  schemas += 1;
  await createPonderTables(database.db, `ponder_${schemas}`, 1);
  return `ponder_${schemas}`;
}

const events = [
  { source: "Bazaar", name: "Sold" },
  { source: "Souk", name: "Sold" },
];

async function fetch(transactions: readonly TransactionRef[]) {
  if (isDown) throw new Error("the node is down");
  requested.push(...transactions.map(({ hash }) => hash));
  return new Map(transactions.map(({ hash }) => [hash, [{ of: hash }]]));
}

/** Returns the number of facts of each pass. */
async function record(passTransfers?: number): Promise<number[]> {
  const recording = {
    ...{ chainId: 1, indexer: "core" },
    canonicalHashes: async () =>
      new Map([b1, b2, b3].map(({ number, hash }) => [BigInt(number), hash])),
    transfers: { events, fetch },
    ...(passTransfers === undefined ? {} : { passTransfers }),
    now: () => new Date(0),
    fence: async () => {},
  };
  const passes: number[] = [];
  for (let more = true; more; ) {
    const pass = await recordChain(database.db, recording);
    if (pass.appended > 0) passes.push(pass.appended);
    more = pass.more;
  }
  return passes;
}

function event(logIndex: number, transactionIndex: number, more: Partial<Emitted> = {}): Emitted {
  const place = { block: b1, logIndex, transactionIndex };
  return { ...place, source: "Bazaar", name: "Sold", address: addressOf(9), args: {}, ...more };
}

/** Log indexes and the transactions whose transfers they are stored with. */
async function stored(): Promise<[number, string | null][]> {
  const { rows } = await sql<{ log: number; of: string | null }>`
    select log_index as log, payload -> 'transfers' -> 0 ->> 'of' as of from log.fact order by block_id, log_index`.execute(
    database.db,
  );
  return rows.map(({ log, of }) => [log, of]);
}

const transaction = (index: number, { hash } = b1) =>
  `0x${hash.slice(2, 58)}${String(index).padStart(8, "0")}`;

describe("an event that is stored with its transaction's transfers", () => {
  it("has them if it is the first of its source in the transaction; the receipt is read once", async () => {
    await emit(database.db, schema, [
      event(1, 0),
      event(2, 0),
      event(3, 0, { source: "Souk" }),
      event(4, 1, { name: "Cancelled" }),
      event(5, 1),
      event(6, 2, { name: "Cancelled" }),
    ]);
    await record();
    expect(await stored()).toEqual([
      [1, transaction(0)],
      [2, null],
      [3, transaction(0)],
      [4, null],
      [5, transaction(1)],
      [6, null],
    ]);
    expect(requested).toEqual([transaction(0), transaction(1)]);
  });

  it("is looked for among the facts of its block; of other events, however many, no fact is read", async () => {
    const others = Array.from({ length: 500 }, (_, log) => event(log, 0, { source: "Token" }));
    await emit(database.db, schema, [...others, event(500, 1)]);
    await record();
    const selection = {
      after: "",
      upTo: afterAllIds,
      blockHashes: [b1.hash],
      condition: sql<boolean>`true`,
    };
    const factsRead = await database.db.transaction().execute(async (session) => {
      await readMissingTransfers(session, schema, selection, { events, fetch }, 10);
      const { rows } = await sql<{ facts: number }>`
        select (seq_tup_read + idx_tup_fetch)::int as facts from pg_stat_xact_user_tables
        where relid = 'log.fact_0'::regclass`.execute(session);
      return rows[0]?.facts ?? 0;
    });
    expect(requested).toEqual([transaction(1)]);
    expect(factsRead).toBeLessThan(1_100);
  });

  it("waits for the node: nothing is appended without them", async () => {
    await emit(database.db, schema, [event(1, 0)]);
    isDown = true;
    await expect(record()).rejects.toThrow("the node is down");
    expect(await stored()).toEqual([]);
    isDown = false;
    await record();
    expect(await stored()).toEqual([[1, transaction(0)]]);
  });

  it("is not read again in a schema that indexes anew; a further source takes them from the log", async () => {
    await emit(database.db, schema, [event(1, 0)]);
    await finalize(database.db, schema, 1, endOf(b2));
    await record();
    const anew = await nextSchema();
    await recordFrom(database.db, anew, 1);
    await emit(database.db, anew, [event(1, 0), event(2, 0, { source: "Souk" })]);
    await finalize(database.db, anew, 1, endOf(b2));
    await record();
    expect(await stored()).toEqual([
      [1, transaction(0)],
      [2, transaction(0)],
    ]);
    expect(requested).toEqual([transaction(0)]);
  });

  const many = () => {
    const other = { name: "Cancelled" };
    return [
      event(1, 0, other),
      event(2, 1),
      event(3, 2),
      event(4, 3, other),
      ...[event(1, 0, other), event(2, 1), event(3, 2, other)].map((one) => ({
        ...one,
        block: b2,
      })),
      ...[event(1, 0, other), event(2, 1), event(3, 2)].map((one) => ({ ...one, block: b3 })),
    ];
  };
  const storedOfMany = [
    ...[null, transaction(1), transaction(2), null],
    ...[null, transaction(1, b2), null],
    ...[null, transaction(1, b3), transaction(2, b3)],
  ];

  it.each(["finalized", "new"])(
    "is one of the last of a pass when there are many transfers: %s blocks",
    async (blocks) => {
      await emit(database.db, schema, many());
      if (blocks === "finalized") await finalize(database.db, schema, 1, endOf(b3));
      expect(await record(1)).toEqual([4, 3, 3]);
      expect((await stored()).map(([, of]) => of)).toEqual(storedOfMany);
      expect([...new Set(requested)]).toEqual(storedOfMany.filter((of) => of !== null));
    },
  );
});
