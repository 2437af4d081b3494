import { sql } from "kysely";
import { keccak256, stringToHex } from "viem";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { deriveInBulk } from "#projections/engine/bulk.ts";
import {
  dropTarget,
  lockCheckpoints,
  readCheckpoints,
  type Target,
} from "#projections/engine/checkpoint.ts";
import { DerivationFailed, type Projection } from "#projections/engine/projection.ts";
import {
  appendReleased,
  isQuarantined,
  readExcludedFacts,
  readQuarantine,
} from "#projections/engine/quarantine.ts";
import { rebuild, rollBack } from "#projections/engine/rebuild.ts";
import { releaseQuarantined } from "#projections/engine/release-quarantined.ts";
import { advance, tick } from "#projections/engine/tick.ts";
import { appendObservations } from "#projections/log/append.ts";
import { kindLiteral } from "#projections/log/fact-kinds.ts";
import {
  addressOf,
  appendEvents,
  block,
  type ChainEvent,
  createProjection,
  dumpTable,
  setBlocks,
  untilSomeoneWaits,
} from "#test/support/database/given.ts";
import { createDatabase } from "#test/support/database/postgres.ts";

const database = await createDatabase();
const { db } = database;
afterAll(() => database.drop());

/** The highest amount that `summed` can take in. */
let ceiling = 100;

/** Units by contract, derived again from the log for every contract in a window. */
const summed: Projection = {
  name: "summed",
  version: 1,
  tables: (schema) => [
    `create table ${schema}.sum (contract_id int primary key, units numeric not null check (units > 0))`,
  ],
  async apply(session, schema, window) {
    const table = sql.table(`${schema}.sum`);
    await sql`
      delete from ${table} where contract_id in (select contract_id from ${window.changes} where kind = ${kindLiteral("erc1155_transfer")})`.execute(
      session,
    );
    await sql`
      insert into ${table}
      select f.contract_id, sum(div(f.amount, (${sql.raw(`${ceiling}`)} >= f.amount)::int))
      from ${window.facts} f
      where f.kind = ${kindLiteral("erc1155_transfer")} and f.position <= ${window.upTo}
        and f.contract_id in (select contract_id from ${window.changes} where kind = ${kindLiteral("erc1155_transfer")})
        and not exists (select from ${window.retractedBlocks} r where r.block_id = f.block_id)
      group by f.contract_id`.execute(session);
  },
};

/** Counts every fact of the log that counts. */
const counted: Projection = {
  name: "counted",
  version: 1,
  tables: (schema) => [`create table ${schema}.total (kind int primary key, facts int not null)`],
  async apply(session, schema, window) {
    const table = sql.table(`${schema}.total`);
    await sql`
      insert into ${table} as t (kind, facts)
      select kind, sum(weight) from ${window.changes} where kind = ${kindLiteral("erc1155_transfer")} group by kind
      on conflict (kind) do update set facts = t.facts + excluded.facts`.execute(session);
  },
};

/** Counts those that count in `summed`, as one that reads its tables does. */
const copied: Projection = {
  ...counted,
  name: "copied",
  reads: ["summed"],
};

/** Numbers facts in order: each number depends on all facts before. */
const numbered: Projection = {
  name: "numbered",
  version: 1,
  tables: (schema) => [
    `create table ${schema}.place (position bigint primary key, number int not null)`,
  ],
  async apply(session, schema, window) {
    const table = sql.table(`${schema}.place`);
    await sql`
      insert into ${table}
      select position, row_number() over (order by position)
                       + (select count(*) from ${table}) * div(1, (${sql.raw(`${ceiling}`)} >= amount)::int)
      from ${window.changes} where kind = ${kindLiteral("erc1155_transfer")}`.execute(session);
  },
};

const [fine, broken] = [addressOf(50), addressOf(51)];

const mint = (number: number, contract = fine, amount = 1n): ChainEvent => ({
  kind: "erc1155_transfer",
  block: block(1, number),
  logIndex: 0,
  contract,
  tokenId: 1n,
  amount,
  from: addressOf(1),
  to: addressOf(2),
});

const all = [summed, counted, copied];
let targets: Target[] = [];
beforeEach(async () => {
  ceiling = 100;
  for (const schema of (await readCheckpoints(db)).keys()) {
    await db.transaction().execute((session) => dropTarget(session, schema));
  }
  await sql`truncate log.fact, log.block, log.transaction, log.contract restart identity`.execute(
    db,
  );
  await sql`update log.head set position = 0`.execute(db);
  targets = [];
  for (const one of all) targets.push(await createProjection(db, one));
});

/** To the log's end, as the projector goes. */
async function keepUp(): Promise<void> {
  for (;;) {
    const { outcome } = await advance(db, targets);
    if (outcome === "idle") return;
  }
}

/** As an operator lets it in: for one projection, or for all that hold it. */
async function letFifthIn(projection: string | null = null) {
  const rebuildOne = (one: Projection) => rebuild(db, one, () => {});
  const projections = targets.map((target) => target.projection);
  const { released, failure } = await releaseQuarantined(db, projections, {
    fact: 5n,
    ...{ projection, rebuildOne },
  });
  return failure?.message ?? released;
}

async function held(): Promise<string[]> {
  const verdicts = await readQuarantine(db);
  return verdicts.filter(isQuarantined).map(({ projection, fact }) => `${projection} ${fact}`);
}

/** What each projection holds: units by contract, and how many facts the other two have counted. */
async function state(schemaOf = (name: string) => name) {
  return {
    sums: await dumpTable(db, `${schemaOf("summed")}.sum`),
    counted: await dumpTable(db, `${schemaOf("counted")}.total`),
    copied: await dumpTable(db, `${schemaOf("copied")}.total`),
  };
}

async function derivedInBulk() {
  const schemaOf = (name: string) => `${name}_shadow`;
  for (const projection of all) {
    const schema = schemaOf(projection.name);
    await db.transaction().execute((session) => dropTarget(session, schema));
    await deriveInBulk(db, { projection, schema });
  }
  return await state(schemaOf);
}

/** Nine facts of which the fifth cannot be taken in. */
async function poison(): Promise<void> {
  await appendEvents(
    db,
    [1, 2, 3, 4, 5, 6, 7, 8, 9].map((number) =>
      number === 5 ? mint(number, broken, 1_000n) : mint(number),
    ),
  );
}

describe("a fact that a projection fails on", () => {
  it("is quarantined for that projection and those that read it, and stops nothing else", async () => {
    await poison();
    await keepUp();

    expect(await held()).toEqual(["summed 5"]);
    expect(await state()).toEqual({ sums: ["(1,8)"], counted: ["(12,9)"], copied: ["(12,8)"] });
    expect(await derivedInBulk()).toEqual(await state());
  });

  it("is left out as well when other facts have its key looked at again", async () => {
    await poison();
    await keepUp();
    await appendEvents(db, [mint(10, broken, 7n)]);
    await setBlocks(db, "block_retracted", [block(1, 4), block(1, 5)]);
    await keepUp();
    await setBlocks(db, "block_readopted", [block(1, 5)]);
    await keepUp();

    expect(await held()).toEqual(["summed 5"]);
    expect((await state()).sums).toEqual(["(1,7)", "(2,7)"]);
    expect(await derivedInBulk()).toEqual(await state());
  });

  it("is quarantined again when it is released too early", async () => {
    await poison();
    await keepUp();
    const before = await state();
    expect(await letFifthIn()).toBe("division by zero");
    await keepUp();

    expect(await held()).toEqual(["summed 5"]);
    expect(await state()).toEqual(before);
    expect(await derivedInBulk()).toEqual(before);
  });

  it("is applied once it is released under a program that handles it", async () => {
    await poison();
    await keepUp();
    ceiling = 1_000;
    expect(await letFifthIn("copied")).toEqual([]);
    expect(await letFifthIn("summed")).toEqual(["summed"]);
    expect(await letFifthIn("summed")).toEqual([]);
    await keepUp();

    expect(await held()).toEqual([]);
    expect(await state()).toEqual({
      sums: ["(1,8)", "(2,1000)"],
      counted: ["(12,9)"],
      copied: ["(12,9)"],
    });
    expect(await derivedInBulk()).toEqual(await state());
  });

  it("has all later facts derived again when it is released", async () => {
    targets = [await createProjection(db, numbered)];
    await poison();
    await keepUp();
    const inOrder = (positions: number[]) =>
      positions.map((position, index) => `(${position},${index + 1})`);
    expect(await dumpTable(db, "numbered.place")).toEqual(inOrder([1, 2, 3, 4, 6, 7, 8, 9]));
    ceiling = 1_000;
    await letFifthIn();

    expect(await dumpTable(db, "numbered.place")).toEqual(inOrder([1, 2, 3, 4, 5, 6, 7, 8, 9]));
  });

  it("stays excluded after its release until the tables are rebuilt, also where the rebuild was killed", async () => {
    await poison();
    await keepUp();
    ceiling = 1_000;
    const before = await state();
    expect(await appendReleased(db, 5n, null)).toEqual(["summed"]);
    await keepUp();
    await setBlocks(db, "block_retracted", [block(1, 5)]);
    await keepUp();
    await setBlocks(db, "block_readopted", [block(1, 5)]);
    await keepUp();
    expect(await state()).toEqual(before);
    expect(await readExcludedFacts(db)).toEqual([
      expect.objectContaining({ projection: "summed", facts: 1 }),
    ]);

    expect(await letFifthIn()).toEqual(["summed"]);
    expect(await readExcludedFacts(db)).toEqual([]);
    expect((await state()).sums).toEqual(["(1,8)", "(2,1000)"]);
    expect(await derivedInBulk()).toEqual(await state());
  });

  it("is released completely, also for a projector in the middle of a tick", async () => {
    await poison();
    while ((await advance(db, targets)).outcome !== "quarantined");
    ceiling = 1_000;
    const { released, ticked } = await db.transaction().execute(async (other) => {
      await lockCheckpoints(other, ["summed"]);
      const released = letFifthIn();
      await untilSomeoneWaits(db);
      const ticked = tick(db, targets);
      await untilSomeoneWaits(db, 2);
      return { released, ticked };
    });

    expect(await released).toEqual(["summed"]);
    expect((await ticked).outcome).toBe("fenced");
    await keepUp();
    expect((await state()).sums).toEqual(["(1,8)", "(2,1000)"]);
    expect(await derivedInBulk()).toEqual(await state());
  });

  it("counts after its release no more than its block does", async () => {
    await poison();
    await keepUp();
    ceiling = 1_000;
    await setBlocks(db, "block_retracted", [block(1, 5)]);
    await letFifthIn();
    await keepUp();
    expect((await state()).sums).toEqual(["(1,8)"]);
    await setBlocks(db, "block_readopted", [block(1, 5)]);
    await keepUp();

    expect((await state()).sums).toEqual(["(1,8)", "(2,1000)"]);
    expect(await derivedInBulk()).toEqual(await state());
  });

  it("is left out again where the tables come back that were made without it", async () => {
    await poison();
    await keepUp();
    const before = await state();
    ceiling = 1_000;
    await letFifthIn();
    await rollBack(db, "summed");
    await keepUp();

    expect((await state()).sums).toEqual(before.sums);
  });

  it("is not alone: each of several is found", async () => {
    await poison();
    await appendEvents(db, [mint(20, broken, 2_000n), mint(21), mint(22, fine, 3_000n)]);
    await keepUp();

    expect(await held()).toEqual(["summed 5", "summed 10", "summed 12"]);
    expect(await derivedInBulk()).toEqual(await state());
  });

  it("stops the projection when there are more than a hundred", async () => {
    await appendObservations(
      db,
      Array.from({ length: 99 }, (_, index) => ({
        kind: "fact_quarantined" as const,
        chainId: 0,
        identity: keccak256(stringToHex(`before ${index}`)),
        recordedAt: new Date(0),
        amount: BigInt(index + 1),
        payload: { projection: "summed", error: "an earlier one" },
      })),
    );
    await appendEvents(db, [mint(1, fine, 1_000n), mint(2), mint(3, fine, 1_000n)]);

    await expect(keepUp()).rejects.toThrow("projection summed failed on facts 102 to 102");
    expect(await held()).toHaveLength(100);
  });

  it("is not quarantined by a build, which only fails", async () => {
    await poison();

    await expect(tick(db, targets)).rejects.toThrow(DerivationFailed);
    await expect(deriveInBulk(db, { projection: summed, schema: "next" })).rejects.toThrow(
      "division by zero",
    );
    expect(await held()).toEqual([]);
  });
});
