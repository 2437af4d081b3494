import { sql } from "kysely";
import { afterAll, describe, expect, it } from "vitest";
import { checkServer } from "../../../api/run/inspection/find-server-problems.ts";
import type { Database } from "../../../projections/database.ts";
import { appendObservations, type Observation } from "../../../projections/log/append.ts";
import { isPartitioned, partitionLog } from "../../../projections/log/partitions/partition-log.ts";
import { readPartitions } from "../../../projections/log/partitions/read-partitions.ts";
import {
  areViewsBound,
  bindViews,
  bindViewsIfStale,
} from "../../../projections/reads/analytics/bind-views.ts";
import { type Random, randomFrom } from "../../simulation/random.ts";
import {
  addressOf,
  appendEvents,
  block,
  type ChainEvent,
  setBlocks,
} from "../../support/database/given.ts";
import { operate } from "../../support/database/operator.ts";
import { repartition, undoPartitions } from "../../support/database/partitions.ts";
import { createDatabase, type TestDatabase } from "../../support/database/postgres.ts";

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

type Shape = { name: string; file: number | null; definition: string };

async function readIndexes(db: Database, table: string): Promise<Shape[]> {
  const { rows } = await sql<Shape>`
    select c.relname as name, pg_relation_filenode(c.oid)::int as file,
           regexp_replace(pg_get_indexdef(c.oid), '^.* USING', '') as definition
    from pg_index i join pg_class c on c.oid = i.indexrelid
    where i.indrelid = ${table}::regclass order by c.relname`.execute(db);
  return rows;
}

describe("the move of a log that has no partitions", () => {
  it("is followed by analysts' views, which the process that records binds to all partitions", async () => {
    const database = await createDatabase({ template: "projected" });
    open.push(database);
    const { db } = database;
    await sql`drop schema analytics cascade`.execute(db);
    await undoPartitions(db, 400);
    await db.transaction().execute(bindViews);
    const bound = [await areViewsBound(db)];
    await partitionLog(db);
    bound.push(await areViewsBound(db));
    await db.transaction().execute(bindViewsIfStale);

    expect([...bound, await areViewsBound(db)]).toEqual([true, false, true]);
  });

  it("loses no append, rewrites nothing, waits for readers, and keeps names, grants and triggers", async () => {
    const { db } = await newLog();
    await undoPartitions(db, 400);
    await sql`grant select on log.fact to public`.execute(db);
    await sql`
      create trigger refuse_chain_9 before insert on log.fact for each row
      when (new.block_id >= 158329674399744) execute function suppress_redundant_updates_trigger()`.execute(
      db,
    );
    await appendEvents(db, events(0, 500));
    const before = { rows: await readLog(db), indexes: await readIndexes(db, "log.fact") };

    let moving: Promise<boolean> | undefined;
    await db.transaction().execute(async (session) => {
      await sql`select from log.fact limit 1`.execute(session);
      moving = partitionLog(db);
      for (let index = 500; index < 520; index += 1) await appendEvents(db, [event(index)]);
    });
    const appending = (async () => {
      for (let index = 520; index < 600; index += 1) await appendEvents(db, [event(index)]);
    })();

    expect([await moving, await isPartitioned(db)]).toEqual([true, true]);
    await appending;
    await appendEvents(db, events(0, 1_500));
    const after = await readLog(db);
    expect(after.slice(0, 500)).toEqual(before.rows);
    expect(after).toHaveLength(1_500);
    expect(await readIndexes(db, "log.fact_0")).toEqual(
      before.indexes.map((index) => ({ ...index, name: `${index.name}_0` })),
    );
    expect((await readIndexes(db, "log.fact")).map(({ name }) => name)).toEqual(
      before.indexes.map(({ name }) => name).filter((name) => !/event|identity/.test(name)),
    );
    const [first, second, third] = await tablesOf(db);
    expect([first, third]).toEqual(["log.fact_0", expect.stringMatching(/00$/)]);
    const { rows } = await sql`
      select relacl::text ~ '=r/' as "isGranted",
             (select count(*)::int from pg_trigger where tgrelid = ${second}::text::regclass) as triggers
      from pg_class where oid = 'log.fact'::regclass`.execute(db);
    expect(rows).toEqual([{ isGranted: true, triggers: 1 }]);
  });

  it("that was begun and not ended refuses no fact, and is ended by the next", async () => {
    const { db } = await newLog();
    await undoPartitions(db, 100);
    await appendEvents(db, events(0, 10));
    await sql`alter table log.fact add constraint fact_range check (position >= 0 and position < 100) not valid`.execute(
      db,
    );
    await sql`update log.head set partitions_end = 100`.execute(db);
    const { head } = await appendEvents(db, events(10, 150));

    expect([head, await isPartitioned(db)]).toEqual([150n, false]);
    expect(await checkServer(db)).toContainEqual(
      expect.objectContaining({ finding: expect.stringContaining("has no partitions") }),
    );
    expect(await partitionLog(db)).toBe(true);
    expect((await appendEvents(db, events(100, 350))).head).toBe(350n);
    expect(await tablesOf(db)).toEqual(["log.fact_0", "log.fact_300", "log.fact_400"]);
  });
});
