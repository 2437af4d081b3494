import { sql } from "kysely";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import type { Target } from "#projections/engine/checkpoint.ts";
import { DerivationFailed, type Projection } from "#projections/engine/projection.ts";
import { tick } from "#projections/engine/tick.ts";
import {
  addressOf,
  appendEvents,
  block,
  createProjection,
  dropTargets,
  dumpTable,
} from "#test/support/database/given.ts";
import { createDatabase } from "#test/support/database/postgres.ts";

const database = await createDatabase();
const { db } = database;
beforeAll(async () => {
  await appendEvents(db, [
    {
      ...{ kind: "erc1155_transfer", block: block(1, 1), logIndex: 0, contract: addressOf(50) },
      ...{ tokenId: 1n, amount: 1n, from: addressOf(1), to: addressOf(2) },
    },
  ]);
});
afterEach(() => dropTargets(db));
afterAll(() => database.drop());

/** Stores a number at each tick, which must not be negative. */
function storing(
  name: string,
  numberOf: () => number | Promise<number>,
  reads: readonly string[] = [],
): Projection {
  return {
    ...{ name, version: 1, reads },
    tables: (schema) => [`create table ${schema}.stored (number int check (number >= 0))`],
    async apply(session, schema) {
      const table = sql.table(`${schema}.stored`);
      await sql`select from ${table}`.execute(session);
      await sql`insert into ${table} select ${await numberOf()}::int`.execute(session);
    },
  };
}

async function create(projections: readonly Projection[]): Promise<Target[]> {
  const targets: Target[] = [];
  for (const one of projections) targets.push(await createProjection(db, one));
  return targets;
}

const stored = async (names: readonly string[]) =>
  Promise.all(names.map((name) => dumpTable(db, `${name}.stored`)));

it("those of a tick overlap, each after those whose tables it reads", async () => {
  let onFollowed = (_: number) => {};
  const followed = new Promise<number>((resolve) => {
    onFollowed = resolve;
  });
  let isRead = false;
  const targets = await create([
    // Without overlap it would wait for ever.
    storing("waiting", async () => {
      const number = await followed;
      isRead = true;
      return number;
    }),
    storing("following", () => {
      onFollowed(7);
      return 1;
    }),
    storing("reading", () => Number(isRead), ["waiting"]),
  ]);
  expect(await tick(db, targets)).toMatchObject({ outcome: "moved" });
  expect(await stored(["waiting", "following", "reading"])).toEqual([["(7)"], ["(1)"], ["(1)"]]);
});

it("the one that fails is named, and nothing of the others stays", async () => {
  const names = ["before", "failing", "after", "reading"];
  const targets = await create([
    storing("before", () => 1),
    storing("failing", () => -1),
    storing("after", () => 1),
    storing("reading", () => 1, ["failing"]),
  ]);
  const failure = await tick(db, targets).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(DerivationFailed);
  expect(failure).toMatchObject({ projection: "failing" });
  expect(await stored(names)).toEqual(names.map(() => []));
});

it("two schemas of one projection do not: they share the session's tables", async () => {
  let atWork = 0;
  let most = 0;
  const shared = storing("shared", async () => {
    atWork += 1;
    most = Math.max(most, atWork);
    await new Promise((resolve) => setImmediate(resolve));
    atWork -= 1;
    return 1;
  });
  const targets = [
    await createProjection(db, shared),
    await createProjection(db, shared, "shadow"),
  ];
  expect(await tick(db, targets)).toMatchObject({ outcome: "moved" });
  expect(most).toBe(1);
  expect(await stored(["shared", "shadow"])).toEqual([["(1)"], ["(1)"]]);
});
