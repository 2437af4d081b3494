import { sql } from "kysely";
import type { Address } from "viem";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { dropTarget, type Target } from "#projections/engine/checkpoint.ts";
import { schemaOf } from "#projections/log/versions.ts";
import { ownershipProjection } from "#projections/tokens/ownership.ts";
import {
  addressOf,
  appendEvents,
  type Block,
  block,
  type ChainEvent,
  createProjection,
  project,
  setBlocks,
  zeroAddress,
} from "#test/support/database/given.ts";
import { createDatabase } from "#test/support/database/postgres.ts";

const database = await createDatabase();
const { db } = database;
let target: Target;

afterAll(() => database.drop());
beforeEach(async () => {
  await dropTarget(db, schemaOf("ownership"));
  await sql`truncate log.fact, log.block, log.transaction, log.contract restart identity`.execute(
    db,
  );
  await sql`update log.head set position = 0`.execute(db);
  target = await createProjection(db, ownershipProjection);
});

const dead: Address = "0x000000000000000000000000000000000000dead";
const maximum = 2n ** 256n - 1n;
const nft = addressOf(50);
const [alice, bob, carol] = [addressOf(1), addressOf(2), addressOf(3)];

type Move = { at: Block; log?: number; sub?: number; from?: Address; to: Address; id: bigint };

function moved({ at, log = 0, from = zeroAddress, to, id }: Move): ChainEvent {
  return {
    kind: "erc721_transfer",
    block: at,
    logIndex: log,
    contract: nft,
    from,
    to,
    tokenId: id,
  };
}

function units(amount: bigint, { sub = 0, ...move }: Move): ChainEvent {
  return { ...moved(move), kind: "erc1155_transfer", subIndex: sub, amount };
}

function range(count: bigint, move: Move): ChainEvent {
  return { ...moved(move), kind: "erc721_consecutive_transfer", amount: count };
}

async function happens(...events: ChainEvent[]) {
  await appendEvents(db, events);
  await project(db, [target]);
}

async function owners(): Promise<[bigint, Address][]> {
  const { rows } = await sql<{ token_id: bigint; owner: Address }>`
    select token_id, owner from ownership.token where standard = 721
    union all
    select generate_series(first_id, least(last_id, first_id + 9)), owner from ownership.token_range
    order by token_id`.execute(db);
  return rows.map(({ token_id, owner }) => [token_id, owner]);
}

async function balances(): Promise<[bigint, Address, bigint][]> {
  const { rows } = await sql<{ token_id: bigint; owner: Address; units: bigint }>`
    select token_id, owner, units from ownership.balance order by token_id, owner`.execute(db);
  return rows.map(({ token_id, owner, units }) => [token_id, owner, units]);
}

async function burned(): Promise<boolean[]> {
  const { rows } = await sql<{ is_burned: boolean }>`
    select is_burned from ownership.token where standard = 1155 order by token_id`.execute(db);
  return rows.map(({ is_burned }) => is_burned);
}

async function counts() {
  const { rows } = await sql`
    select tokens, supply, units, holders, standard from ownership.collection`.execute(db);
  return rows;
}

/** Rows that ownership takes for tokens, without counters. */
async function rowsStored(): Promise<number> {
  const { rows } = await sql<{ stored: number }>`
    select (select count(*) from ownership.token)::int + (select count(*) from ownership.token_range)::int
           + (select count(*) from ownership.last_range)::int as stored`.execute(db);
  return rows[0]?.stored ?? 0;
}

describe("an ERC-721 owner", () => {
  it("is the receiver of the last transfer in chain order, in any order of arrival", async () => {
    await happens(moved({ at: block(1, 9), from: alice, to: bob, id: 1n }));
    await happens(moved({ at: block(1, 3), to: alice, id: 1n }));
    await happens(moved({ at: block(1, 9), log: 5, from: bob, to: carol, id: 1n }));
    await happens(moved({ at: block(1, 9), log: 2, from: carol, to: bob, id: 1n }));

    expect(await owners()).toEqual([[1n, carol]]);
    expect(await counts()).toEqual([
      { tokens: 1n, supply: 1n, units: 1n, holders: 1n, standard: 721 },
    ]);
  });

  it("is a burn address after a burn, until a mint brings the token back", async () => {
    await happens(moved({ at: block(1, 1), to: alice, id: 1n }));
    await happens(moved({ at: block(1, 2), from: alice, to: dead, id: 1n }));
    const burned = await counts();
    await happens(moved({ at: block(1, 3), to: bob, id: 1n }));

    expect(burned).toEqual([{ tokens: 1n, supply: 0n, units: 0n, holders: 0n, standard: 721 }]);
    expect(await owners()).toEqual([[1n, bob]]);
    expect(await counts()).toEqual([
      { tokens: 1n, supply: 1n, units: 1n, holders: 1n, standard: 721 },
    ]);
  });

  it("is retracted and readopted with its block", async () => {
    await happens(moved({ at: block(1, 1), to: alice, id: 1n }));
    await happens(moved({ at: block(1, 2), from: alice, to: bob, id: 1n }));
    await setBlocks(db, "block_retracted", [block(1, 2)]);
    await project(db, [target]);
    const without = await owners();
    await setBlocks(db, "block_retracted", [block(1, 1)]);
    await project(db, [target]);
    const nothing = [await owners(), await counts()];
    await setBlocks(db, "block_readopted", [block(1, 1), block(1, 2)]);
    await project(db, [target]);

    expect(without).toEqual([[1n, alice]]);
    expect(nothing).toEqual([[], []]);
    expect(await owners()).toEqual([[1n, bob]]);
  });

  it("follows from a range like from single transfers", async () => {
    await happens(moved({ at: block(1, 5), from: alice, to: bob, id: 2n }));
    await happens(range(3n, { at: block(1, 1), to: alice, id: 1n }));
    await happens(range(2n, { at: block(1, 6), from: bob, to: carol, id: 2n }));

    expect(await owners()).toEqual([
      [1n, alice],
      [2n, carol],
      [3n, carol],
    ]);
  });

  it("of an unbounded range is set for all of it, and costs two rows", async () => {
    await happens(range(maximum, { at: block(1, 1), to: alice, id: 0n }));
    expect(await rowsStored()).toBe(2);
    await happens(moved({ at: block(1, 2), from: alice, to: bob, id: 20_000n }));

    const count = { tokens: maximum, supply: maximum, units: maximum, holders: 2n, standard: 721 };
    expect(await counts()).toEqual([count]);
    expect(await owners()).toContainEqual([20_000n, bob]);
    expect(await owners()).toContainEqual([20_001n, alice]);
    expect(await rowsStored()).toBe(4);
  });

  it("in a range is found again when the ranges after it leave the chain, and tokens moved before them", async () => {
    await happens(range(8n, { at: block(1, 1), to: alice, id: 1n }));
    await happens(moved({ at: block(1, 2), from: alice, to: bob, id: 3n }));
    await happens(range(4n, { at: block(1, 3), from: alice, to: carol, id: 2n }));
    const later = await owners();
    await setBlocks(db, "block_retracted", [block(1, 3)]);
    await project(db, [target]);

    const ids = [1n, 2n, 3n, 4n, 5n, 6n, 7n, 8n];
    const owned = (by: (id: bigint) => Address) => ids.map((id) => [id, by(id)]);
    expect(later).toEqual(owned((id) => (id >= 2n && id <= 5n ? carol : alice)));
    expect(await owners()).toEqual(owned((id) => (id === 3n ? bob : alice)));
  });

  it("costs four rows a range at most, whatever the ranges overlap", async () => {
    const nested = Array.from({ length: 500 }, (_, step) =>
      range(maximum - BigInt(2 * step), {
        at: block(1, 1),
        log: step,
        to: addressOf(step % 9),
        id: BigInt(step),
      }),
    );
    await happens(...nested);

    expect(await rowsStored()).toBeLessThanOrEqual(4 * nested.length);
    expect(await counts()).toMatchObject([{ tokens: maximum, holders: 9n }]);
  });

  it("is not set by a range that ends before it starts", async () => {
    await happens(range(1n - maximum, { at: block(1, 1), to: alice, id: maximum }));
    await happens(range(0n, { at: block(1, 1), log: 1, to: alice, id: 7n }));

    expect(await owners()).toEqual([]);
  });
});

describe("an ERC-1155 balance", () => {
  it("is the sum of transfers in less transfers out, in any order", async () => {
    await happens(units(4n, { at: block(1, 9), from: alice, to: bob, id: 7n }));
    await happens(units(10n, { at: block(1, 1), to: alice, id: 7n }));
    await happens(units(0n, { at: block(1, 2), from: carol, to: carol, id: 7n }));

    expect(await balances()).toEqual([
      [7n, alice, 6n],
      [7n, bob, 4n],
    ]);
    expect(await counts()).toEqual([
      { tokens: 1n, supply: 1n, units: 10n, holders: 2n, standard: 1155 },
    ]);
  });

  it("does not change when its owner transfers to itself", async () => {
    await happens(
      units(10n, { at: block(1, 1), to: alice, id: 7n }),
      units(3n, { at: block(1, 2), from: alice, to: alice, id: 7n }),
    );

    expect(await balances()).toEqual([[7n, alice, 10n]]);
  });

  it("is deleted with the token when no transfer of it is effective", async () => {
    await happens(units(0n, { at: block(1, 1), to: alice, id: 7n }));
    const seen = await counts();
    await setBlocks(db, "block_retracted", [block(1, 1)]);
    await project(db, [target]);

    expect(seen).toMatchObject([{ tokens: 1n, supply: 0n }]);
    expect(await counts()).toEqual([]);
  });

  it("counts units out of nothing as minted at their first move", async () => {
    await happens(units(5n, { at: block(1, 1), from: alice, to: bob, id: 7n }));
    await happens(units(3n, { at: block(1, 2), from: alice, to: carol, id: 7n }));
    await happens(units(2n, { at: block(1, 3), from: carol, to: alice, id: 7n }));

    expect(await balances()).toEqual([
      [7n, alice, 2n],
      [7n, bob, 5n],
      [7n, carol, 1n],
    ]);
    expect(await counts()).toMatchObject([{ supply: 1n, units: 8n, holders: 3n }]);
    expect(await burned()).toEqual([false]);
  });

  it("proves no less by a transfer to oneself, and no more once a mint is known", async () => {
    await happens(units(4n, { at: block(1, 5), from: alice, to: alice, id: 7n }));
    const before = await balances();
    await happens(units(9n, { at: block(1, 2), to: alice, id: 7n }));

    expect(before).toEqual([[7n, alice, 4n]]);
    expect(await balances()).toEqual([[7n, alice, 9n]]);
  });

  it("is burned by transfers to a burn address alone", async () => {
    await happens(units(0n, { at: block(1, 1), from: alice, to: bob, id: 7n }));
    const empty = await burned();
    await happens(units(5n, { at: block(1, 2), from: alice, to: dead, id: 7n }));
    const gone = await burned();
    await happens(units(1n, { at: block(1, 3), from: bob, to: carol, id: 7n }));

    expect([empty, gone, await burned()]).toEqual([[false], [true], [false]]);
  });

  it("is unbounded: a contract may emit the largest amount repeatedly", async () => {
    const mints = Array.from({ length: 100 }, (_, sub) =>
      units(maximum, { at: block(1, 1), sub, to: alice, id: maximum }),
    );
    await happens(...mints);
    await happens(...mints.map((one) => ({ ...one, block: block(1, 2), from: bob })));

    expect(await balances()).toEqual([[maximum, alice, 200n * maximum]]);
    expect(await counts()).toMatchObject([{ units: 200n * maximum, holders: 1n }]);
  });
});
