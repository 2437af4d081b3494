import { sql } from "kysely";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { readCheckpoints, type Target } from "#projections/engine/checkpoint.ts";
import type { Projection } from "#projections/engine/projection.ts";
import { prepareProjections } from "#projections/engine/rebuild.ts";
import { tick } from "#projections/engine/tick.ts";
import {
  addressOf,
  appendEvents,
  block,
  createProjection,
  dropTargetsAndFacts,
  dumpTable,
  project,
} from "#test/support/database/given.ts";
import { createDatabase } from "#test/support/database/postgres.ts";

const database = await createDatabase();
const { db } = database;

afterAll(() => database.drop());
beforeEach(() => dropTargetsAndFacts(db));

/** One row for each fact; fails where the tables that it reads do not have one for each fact up to its window's end. */
const exact = (name: string, reads: readonly string[] = []): Projection => ({
  name,
  version: 1,
  reads,
  tables: (schema) => [`create table ${schema}.seen (position bigint primary key)`],
  async apply(session, schema, { upTo, changes }) {
    for (const one of reads) {
      const { rows } = await sql<{ count: bigint }>`
        select count(*) from ${sql.id(one, "seen")}`.execute(session);
      if (rows[0]?.count !== upTo)
        throw new Error(`${name} reads ${rows[0]?.count} rows of ${one} at ${upTo}`);
    }
    await sql`insert into ${sql.id(schema, "seen")} select position from ${changes}`.execute(
      session,
    );
  },
});

const shared = exact("shared");
/** What the releases have of their own: one projection reads the shared one, another reads both. */
const own = (release: string) => [
  exact(`inner_${release}`, ["shared"]),
  exact(`outer_${release}`, ["shared", `inner_${release}`]),
];
const targetsOf = (projections: readonly Projection[]): Target[] =>
  projections.map((projection) => ({ projection, schema: projection.name }));

let blocks = 0;
async function append(facts: number): Promise<void> {
  blocks += 1;
  const at = block(1, blocks);
  await appendEvents(
    db,
    Array.from({ length: facts }, (_, index) => ({
      ...({
        kind: "erc721_transfer",
        block: at,
        logIndex: index,
        contract: addressOf(50),
      } as const),
      ...{ tokenId: BigInt(blocks * 1_000 + index), from: addressOf(1), to: addressOf(2) },
    })),
  );
}

const positions = async () =>
  new Set([...(await readCheckpoints(db)).values()].map(({ position }) => position));

describe("a release whose projector finds shared tables ahead of its own", () => {
  it("brings its own to their position at once, each after those it reads", async () => {
    const [inner, outer] = own("new");
    if (inner === undefined || outer === undefined) throw new Error("there are two");
    const all = [shared, inner, outer];
    for (const one of all) await createProjection(db, one);
    await append(3);
    await project(db, targetsOf(all));
    await append(4);
    await project(db, targetsOf([shared, inner]));
    await append(5);
    await project(db, targetsOf([shared]));

    expect(await tick(db, targetsOf(all))).toMatchObject({ outcome: "moved" });

    expect(await positions()).toEqual(new Set([12n]));
    expect(await dumpTable(db, "outer_new.seen")).toEqual(await dumpTable(db, "shared.seen"));
  });

  it("derives its own while the other one moves the shared ones, from one position each", async () => {
    const before = [shared, ...own("old")];
    const after = [shared, ...own("new")];
    await append(30);
    await prepareProjections(db, before, () => {});
    const over = new AbortController();
    const appending = (async () => {
      while (!over.signal.aborted) await append(2);
    })();
    const projecting = (async () => {
      while (!over.signal.aborted) await tick(db, targetsOf(before));
    })();
    try {
      await prepareProjections(db, after, () => {});
      for (let moved = 0; moved < 20; ) {
        const { outcome } = await tick(db, targetsOf(after));
        if (outcome === "moved") moved += 1;
      }
    } finally {
      over.abort();
    }
    await Promise.all([appending, projecting]);
    await project(db, targetsOf(after));
    await project(db, targetsOf(before));

    expect((await positions()).size).toBe(1);
    for (const name of ["inner_old", "outer_old", "inner_new", "outer_new"])
      expect(await dumpTable(db, `${name}.seen`)).toEqual(await dumpTable(db, "shared.seen"));
  });
});
