import { type RawBuilder, sql } from "kysely";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { readCheckpoints, type Target } from "#projections/engine/checkpoint.ts";
import type { FactWindow, Projection } from "#projections/engine/projection.ts";
import { catchUp, prepareProjections, rebuild } from "#projections/engine/rebuild.ts";
import { tick } from "#projections/engine/tick.ts";
import {
  addressOf,
  appendEvents,
  block,
  type ChainEvent,
  createProjection,
  dropTargetsAndFacts,
  dumpTable,
  project,
  setBlocks,
  untilSomeoneWaits,
} from "#test/support/database/given.ts";
import { createDatabase } from "#test/support/database/postgres.ts";

const database = await createDatabase();
const { db } = database;

afterAll(() => database.drop());
beforeEach(() => dropTargetsAndFacts(db));

type Apply = Projection["apply"];

const removal = (schema: string, { changes }: FactWindow): RawBuilder<unknown> => sql`
  delete from ${sql.id(schema, "seen")} s using ${changes} c where c.weight < 0 and s.token_id = c.token_id`;

/** Keeps the ids of tokens whose transfers count, and remarks of its own. */
function tokens(
  remark: string,
  more: { version?: number; parameters?: string; afterwards?: Apply } = {},
): Projection {
  return {
    name: "tokens",
    version: more.version ?? 1,
    ...(more.parameters === undefined ? {} : { parameters: more.parameters }),
    tables: (schema) => [`create table ${schema}.seen (token_id numeric primary key, remark text)`],
    async apply(session, schema, window) {
      await removal(schema, window).execute(session);
      await sql`
        insert into ${sql.id(schema, "seen")} select token_id, ${remark} from ${window.changes} where weight > 0`.execute(
        session,
      );
      await more.afterwards?.(session, schema, window);
    },
  };
}

/** Copies another projection's rows for the tokens of a window. */
const copies = (version = 1): Projection => ({
  name: "copies",
  version,
  tables: (schema) => [`create table ${schema}.seen (token_id numeric primary key, remark text)`],
  async apply(session, schema, window) {
    await removal(schema, window).execute(session);
    await sql`
      insert into ${sql.id(schema, "seen")}
      select s.* from tokens.seen s join ${window.changes} c using (token_id) where c.weight > 0`.execute(
      session,
    );
  },
});

/** The same, by a projection that says what it reads. */
const reader = (version?: number): Projection => ({ ...copies(version), reads: ["tokens"] });

function transfers(count: number, number = 1): ChainEvent[] {
  return Array.from({ length: count }, (_, index) => ({
    kind: "erc721_transfer",
    block: block(1, number),
    logIndex: index,
    contract: addressOf(50),
    tokenId: BigInt(number * 1_000 + index),
    from: addressOf(1),
    to: addressOf(2),
  }));
}

const ids = (rows: readonly string[]) => rows.map((row) => Number(row.slice(1, -1).split(",")[0]));
const remarks = (rows: readonly string[]) => [
  ...new Set(rows.map((row) => row.slice(1, -1).split(",")[1])),
];

function gate(): { opened: Promise<void>; open: () => void } {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

async function standing(): Promise<Record<string, [number, bigint]>> {
  const checkpoints = await readCheckpoints(db);
  return Object.fromEntries(
    [...checkpoints.values()].map(({ schema, version, position }) => [schema, [version, position]]),
  );
}

describe("a tick", () => {
  it("that fails leaves neither rows nor a moved checkpoint", async () => {
    const failing = tokens("first", {
      afterwards: async () => {
        throw new Error("out of luck");
      },
    });
    const target = await createProjection(db, failing);
    await appendEvents(db, transfers(3));

    await expect(tick(db, [target])).rejects.toThrow("out of luck");

    expect(await dumpTable(db, "tokens.seen")).toEqual([]);
    expect(await standing()).toEqual({ tokens: [1, 0n] });
    await project(db, [{ ...target, projection: tokens("first") }]);
    expect(ids(await dumpTable(db, "tokens.seen"))).toEqual([1_000, 1_001, 1_002]);
  });

  it("moves all of its targets or none", async () => {
    const first = await createProjection(db, tokens("first"));
    const second = await createProjection(db, {
      ...copies(),
      apply: async () => {
        throw new Error("out of luck");
      },
    });
    await appendEvents(db, transfers(1));

    await expect(tick(db, [first, second])).rejects.toThrow("out of luck");

    expect(await standing()).toEqual({ tokens: [1, 0n], copies: [1, 0n] });
  });

  it("by two projectors at once is done by one of them", async () => {
    const target = await createProjection(db, tokens("first"));
    await appendEvents(db, transfers(50));
    const outcomes: string[] = [];

    while (!outcomes.includes("idle")) {
      const both = await Promise.all([tick(db, [target], 3), tick(db, [target], 5)]);
      outcomes.push(...both.map(({ outcome }) => outcome));
    }

    expect(ids(await dumpTable(db, "tokens.seen"))).toHaveLength(50);
    expect(await standing()).toEqual({ tokens: [1, 50n] });
  });

  it("that another one overtakes is refused and leaves nothing", async () => {
    const entered = gate();
    const released = gate();
    const slow = tokens("slow", {
      afterwards: async () => {
        entered.open();
        await released.opened;
      },
    });
    const target = await createProjection(db, slow);
    await appendEvents(db, transfers(2));

    const first = tick(db, [target]);
    await entered.opened;
    const second = tick(db, [{ ...target, projection: tokens("second") }]);
    await untilSomeoneWaits(db);
    released.open();

    expect((await first).outcome).toBe("moved");
    expect((await second).outcome).toBe("fenced");
    expect(remarks(await dumpTable(db, "tokens.seen"))).toEqual(["slow"]);
  });

  it("of a projector of another version is refused", async () => {
    const target = await createProjection(db, tokens("new", { version: 2 }));
    await appendEvents(db, transfers(1));

    const old: Target = { ...target, projection: tokens("old") };

    await expect(tick(db, [old])).rejects.toThrow("projection tokens has tables of version 2");
    expect(await standing()).toEqual({ tokens: [2, 0n] });
  });

  it("brings the one furthest behind up to the others first", async () => {
    const first = await createProjection(db, tokens("first"));
    await appendEvents(db, transfers(5));
    await project(db, [first]);
    const second = await createProjection(db, copies());
    await appendEvents(db, transfers(5, 2));

    const moved = await tick(db, [first, second]);

    expect(moved).toEqual({ outcome: "moved", window: { after: 0n, upTo: 5n }, head: 10n });
    expect(ids(await dumpTable(db, "copies.seen"))).toHaveLength(5);
  });

  it("that cuts a reorg in half sees what counts at its own end", async () => {
    const target = await createProjection(db, tokens("first"));
    await appendEvents(db, transfers(2, 1));
    await setBlocks(db, "block_retracted", [block(1, 1)]);
    await appendEvents(db, transfers(2, 2));
    await setBlocks(db, "block_readopted", [block(1, 1)]);
    const seen: number[][] = [];

    while ((await tick(db, [target], 1)).outcome === "moved") {
      seen.push(ids(await dumpTable(db, "tokens.seen")));
    }

    expect(seen).toEqual([
      [1_000],
      [1_000, 1_001],
      [],
      [2_000],
      [2_000, 2_001],
      [1_000, 1_001, 2_000, 2_001],
    ]);
  });

  it("of a window that drops a block and takes it back moves nothing", async () => {
    const target = await createProjection(db, tokens("first"));
    await appendEvents(db, transfers(2, 1));
    await project(db, [target]);
    await setBlocks(db, "block_retracted", [block(1, 1)]);
    await setBlocks(db, "block_readopted", [block(1, 1)]);

    await tick(db, [{ ...target, projection: tokens("second") }], 100);

    expect(remarks(await dumpTable(db, "tokens.seen"))).toEqual(["first"]);
  });
});

describe("a rebuild", () => {
  const quiet = () => {};

  it("of a raised version serves the old rows until it swaps", async () => {
    await appendEvents(db, transfers(4));
    await prepareProjections(db, [tokens("old")], quiet);
    const served = new Set<string | undefined>();

    await prepareProjections(db, [tokens("new", { version: 2 })], () => served.add("asked"));

    expect(remarks(await dumpTable(db, "tokens.seen"))).toEqual(["new"]);
    expect(await standing()).toEqual({ tokens: [2, 4n], tokens_previous: [1, 4n] });
    expect(served).toEqual(new Set(["asked"]));
  });

  it("never shows a reader an unfinished table", async () => {
    await appendEvents(db, transfers(40));
    await prepareProjections(db, [tokens("old")], quiet);
    const sizes = new Set<number>();
    let rebuilding = true;
    const reader = (async () => {
      while (rebuilding) sizes.add((await dumpTable(db, "tokens.seen")).length);
    })();

    await prepareProjections(db, [tokens("new", { version: 2 })], quiet);
    rebuilding = false;
    await reader;

    expect([...sizes]).toEqual([40]);
  });

  it("happens when the parameters change, and not when nothing does", async () => {
    await appendEvents(db, transfers(1));
    await prepareProjections(db, [tokens("one", { parameters: "a" })], quiet);
    await prepareProjections(db, [tokens("two", { parameters: "a" })], quiet);
    const unchanged = remarks(await dumpTable(db, "tokens.seen"));
    await prepareProjections(db, [tokens("three", { parameters: "b" })], quiet);

    expect(unchanged).toEqual(["one"]);
    expect(remarks(await dumpTable(db, "tokens.seen"))).toEqual(["three"]);
  });

  it("that was killed is resumed, unless the version was raised again", async () => {
    await appendEvents(db, transfers(6));
    await prepareProjections(db, [tokens("old")], quiet);
    const killed = { projection: tokens("killed", { version: 2 }), schema: "tokens_next" };
    await createProjection(db, killed.projection, killed.schema);
    await tick(db, [killed], 4);

    await prepareProjections(db, [tokens("taken up", { version: 2 })], quiet);
    const rows = await dumpTable(db, "tokens.seen");
    await createProjection(db, killed.projection, killed.schema);
    await tick(db, [killed], 4);
    await prepareProjections(db, [tokens("raised", { version: 3 })], quiet);

    expect(remarks(rows)).toEqual(["killed", '"taken up"']);
    expect(remarks(await dumpTable(db, "tokens.seen"))).toEqual(["raised"]);
    expect(await standing()).toEqual({ tokens: [3, 6n], tokens_previous: [2, 6n] });
  });

  it("of one that reads another's tables does not overtake it", async () => {
    await appendEvents(db, transfers(3));
    await prepareProjections(db, [tokens("one"), reader()], quiet);
    await appendEvents(db, transfers(3, 2));

    await prepareProjections(db, [tokens("one"), reader(2)], quiet);
    await project(db, [
      { projection: tokens("one"), schema: "tokens" },
      { projection: reader(2), schema: "copies" },
    ]);

    expect(await dumpTable(db, "copies.seen")).toEqual(await dumpTable(db, "tokens.seen"));
  });

  it.each([
    ["what reads nothing", tokens("one")],
    ["what reads another's tables", reader()],
  ])(
    "applies the window of %s again when another projection is swapped meanwhile",
    async (_, projection) => {
      const read = await createProjection(db, tokens("one"));
      const target = projection.name === "tokens" ? read : await createProjection(db, projection);
      await appendEvents(db, transfers(3));
      if (target !== read) await project(db, [read]);

      // In an object: a promise alone would be awaited before the commit that it waits for.
      const { forward } = await db.transaction().execute(async (session) => {
        await sql`select from engine.checkpoint for update`.execute(session);
        const forward = catchUp(db, target, {}, quiet);
        await untilSomeoneWaits(db);
        await sql`update engine.checkpoint set position = position`.execute(session);
        return { forward };
      });
      await forward;

      expect(ids(await dumpTable(db, `${target.schema}.seen`))).toEqual([1_000, 1_001, 1_002]);
      expect((await standing())[target.schema]).toEqual([1, 3n]);
    },
  );

  it("by two processes at once leaves whole tables and one checkpoint", async () => {
    await appendEvents(db, transfers(30));
    await prepareProjections(db, [tokens("old")], quiet);
    const raised = tokens("new", { version: 2 });

    await Promise.allSettled([rebuild(db, raised, quiet), rebuild(db, raised, quiet)]);
    await prepareProjections(db, [raised], quiet);

    expect(ids(await dumpTable(db, "tokens.seen"))).toHaveLength(30);
    expect(remarks(await dumpTable(db, "tokens.seen"))).toEqual(["new"]);
    expect(await standing()).toMatchObject({ tokens: [2, 30n] });
  });
});
