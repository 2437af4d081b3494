import { sql } from "kysely";
import { afterAll, describe, expect, it } from "vitest";
import { appendObservations, type Observation } from "#projections/log/append.ts";
import type { Database } from "#projections/log/database.ts";
import { readPartitions } from "#projections/log/schema.ts";
import { type Random, randomFrom } from "#test/simulation/random.ts";
import {
  addressOf,
  appendEvents,
  block,
  type ChainEvent,
  setBlocks,
} from "#test/support/database/given.ts";
import { operate } from "#test/support/database/operator.ts";
import { repartition } from "#test/support/database/partitions.ts";
import { createDatabase, type TestDatabase } from "#test/support/database/postgres.ts";

const open: TestDatabase[] = [];
afterAll(async () => {
  for (const database of open) await database.drop();
});

async function newLog(): Promise<TestDatabase> {
  const database = await createDatabase();
  open.push(database);
  return database;
}

/** Number `index` of a chain's events, ten to a block. */
const event = (index: number): ChainEvent => ({
  kind: "erc1155_transfer",
  block: block(1, 1 + Math.floor(index / 10)),
  logIndex: index % 10,
  contract: addressOf(50 + Math.floor(index / 100)),
  tokenId: BigInt(index % 7),
  amount: 1n,
  from: addressOf(index % 3),
  to: addressOf(1 + (index % 3)),
});

const observation = (index: number): Observation => ({
  kind: "contract_described",
  chainId: 1,
  contract: addressOf(50),
  identity: `0x${index.toString(16).padStart(64, "0")}`,
  recordedAt: new Date(index),
  payload: { name: `Observed ${index}`, symbol: null, standard: null },
});

const events = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => event(from + index));

const tablesOf = async (db: Database) => (await readPartitions(db)).map(({ table }) => table);

/** An append of any facts, which the log may hold, and the append itself may hold twice. */
function drawStep(random: Random, size: number): (db: Database) => Promise<unknown> {
  const drawn = Array.from({ length: size }, () => random.int(0, 1_500));
  const state = random.pick(["block_retracted", "block_readopted"] as const);
  return random.pick([
    (db: Database) => appendEvents(db, drawn.map(event)),
    (db: Database) => appendObservations(db, drawn.map(observation)),
    (db: Database) =>
      setBlocks(
        db,
        state,
        drawn.slice(0, 9).map((index) => event(index).block),
      ),
  ]);
}

/** With contracts as addresses: an append that fails leaves out ids. */
async function readLog(db: Database): Promise<string[]> {
  const { rows } = await sql<{ row: string }>`
    select (to_jsonb(f) - 'contract_id' || jsonb_build_object('contract', k.address))::text as row
    from log.fact f left join log.contract k using (contract_id) order by f.position`.execute(db);
  return rows.map(({ row }) => row);
}

describe("a log of many partitions", () => {
  it.each([1, 2])("holds what a log of one does, whatever is appended (seed %i)", async (seed) => {
    const [one, many] = [await newLog(), await newLog()];
    await repartition(many.db, 100);
    const random = randomFrom(seed);
    for (let append = 0; append < 20; append += 1) {
      const step = drawStep(random, append % 10 === 9 ? 1_100 : random.int(1, 70));
      for (const { db } of [one, many]) await step(db);
    }

    expect(await readLog(many.db)).toEqual(await readLog(one.db));
    expect((await tablesOf(many.db)).length).toBeGreaterThan(8);
    expect(await tablesOf(one.db)).toEqual(["log.fact_0"]);
  });

  it("stores an event once that one append has on both sides of a border", async () => {
    const { db } = await newLog();
    await repartition(db, 40);
    const { appended, head } = await appendEvents(db, [...events(0, 30), ...events(0, 32)]);

    expect([appended, head]).toEqual([32, 32n]);
    expect((await appendEvents(db, [...events(25, 50), ...events(25, 50)])).head).toBe(50n);
  });

  it("has the next partition before it is needed, with every index, and grants and triggers of the log", async () => {
    const { db } = await newLog();
    await sql`grant select on log.fact to public`.execute(db);
    await repartition(db, 40);
    await sql`
      create trigger refuse_chain_9 before insert on log.fact for each row
      when (new.block_id >= 158329674399744) execute function suppress_redundant_updates_trigger()`.execute(
      db,
    );
    const layouts = [];
    for (const upTo of [29, 30, 75]) {
      await appendEvents(db, events(0, upTo));
      layouts.push(await tablesOf(db));
    }
    const { rows } = await sql<{
      name: string;
      indexes: string[];
      grants: string;
      triggers: number;
    }>`
      select c.relname as name, c.relacl::text as grants,
             (select count(*)::int from pg_trigger t where t.tgrelid = c.oid) as triggers,
             (select array_agg(regexp_replace(x.relname, c.relname || '$|_' || substring(c.relname from 6) || '$', '')
                               || regexp_replace(pg_get_indexdef(x.oid), '^.* USING', '') order by x.relname)
              from pg_index i join pg_class x on x.oid = i.indexrelid where i.indrelid = c.oid) as indexes
      from pg_inherits h join pg_class c on c.oid = h.inhrelid
      where h.inhparent = 'log.fact'::regclass order by length(c.relname), c.relname`.execute(db);

    expect(layouts.map((names) => names.length)).toEqual([1, 2, 3]);
    expect((await readPartitions(db)).map(({ first, last }) => [first, last])).toEqual([
      [0n, 39n],
      [40n, 79n],
      [80n, 119n],
    ]);
    for (const { indexes, grants, triggers } of rows) {
      expect({ indexes, triggers }).toEqual({ indexes: rows[0]?.indexes, triggers: 1 });
      expect(grants).toMatch(/=r\//);
    }
  });
});

it("is listed by partition for operators", async () => {
  const { db, url } = await newLog();
  await repartition(db, 40);
  const { code, out } = await operate(url, "log", "partitions", "--json");

  expect([code, JSON.parse(out).partitions]).toEqual([
    0,
    [expect.objectContaining({ table: "log.fact_0", first: "0", last: "39" })],
  ]);
});

it("has statistics over all partitions, gathered again when the log has grown by a fifth", async () => {
  const { db } = await newLog();
  await repartition(db, 400);
  const gathered: unknown[] = [];
  for (const upTo of [900, 1_100, 1_200, 2_400]) {
    await appendEvents(db, events(0, upTo));
    const { rows } = await sql<{ is: boolean }>`select log.analyze_facts() as is`.execute(db);
    gathered.push(rows[0]?.is);
  }
  const { rows } = await sql`
    select inherited from pg_stats where schemaname = 'log' and tablename = 'fact' and attname = 'contract_id'`.execute(
    db,
  );

  expect([gathered, rows]).toEqual([[false, true, false, true], [{ inherited: true }]]);
});
