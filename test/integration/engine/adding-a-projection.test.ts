import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { allProjections } from "#projections/all.ts";
import { targetOf } from "#projections/engine/checkpoint.ts";
import { prepareProjections, rebuild } from "#projections/engine/rebuild.ts";
import { verify } from "#projections/engine/verify.ts";
import {
  addressOf,
  appendEvents,
  block,
  project,
  setBlocks,
} from "#test/support/database/given.ts";
import { createDatabase, type TestDatabase } from "#test/support/database/postgres.ts";
import { transferCountsProjection } from "./example-projection/project.ts";

const root = resolve(import.meta.dirname, "../../..");
const guide = readFileSync(join(root, "docs/adding-a-projection.md"), "utf8");

/** The line that the guide adds to `projections/all.ts`. */
const projections = [...allProjections({ feeRecipient: addressOf(99) }), transferCountsProjection];
const targets = projections.map(targetOf);
const [first, second] = [block(1, 1), block(1, 2)];

let database: TestDatabase;

beforeAll(async () => {
  database = await createDatabase();
  await prepareProjections(database.db, projections, () => {});
});
afterAll(() => database?.drop());

function transfer(at: typeof first, logIndex: number, contract: number, tokenId: bigint) {
  return {
    kind: "erc721_transfer" as const,
    block: at,
    logIndex,
    contract: addressOf(contract),
    tokenId,
    from: addressOf(1),
    to: addressOf(2),
  };
}

async function transfers(): Promise<Record<string, bigint>> {
  const { rows } = await sql<{ address: string; transfers: bigint }>`
    select k.address, c.transfers
    from transfer_counts.contract c join log.contract k using (contract_id)`.execute(database.db);
  return Object.fromEntries(rows.map((row) => [row.address, row.transfers]));
}

describe("a projection that is added as the guide says", () => {
  it("is derived live", async () => {
    await appendEvents(database.db, [transfer(first, 0, 7, 1n), transfer(first, 1, 7, 2n)]);
    await project(database.db, targets);
    expect(await transfers()).toEqual({ [addressOf(7)]: 2n });

    await appendEvents(database.db, [transfer(second, 0, 7, 1n), transfer(second, 1, 8, 1n)]);
    await project(database.db, targets);
    expect(await transfers()).toEqual({ [addressOf(7)]: 3n, [addressOf(8)]: 1n });
  });

  it("is rebuilt to the same rows", async () => {
    const live = await transfers();
    await rebuild(database.db, transferCountsProjection, () => {});
    expect(await transfers()).toEqual(live);
  });

  it("is verified, and a row that differs is found", async () => {
    const check = () =>
      verify(database.db, transferCountsProjection, { maxExamples: 1, onProgress: () => {} });
    expect(await check()).toMatchObject({ compared: 2n, different: 0n });

    await sql`update transfer_counts.contract set transfers = transfers + 1`.execute(database.db);
    expect(await check()).toMatchObject({ different: 2n });
    await rebuild(database.db, transferCountsProjection, () => {});
  });

  it("is undone by a reorg and restored", async () => {
    await setBlocks(database.db, "block_retracted", [second]);
    await project(database.db, targets);
    expect(await transfers()).toEqual({ [addressOf(7)]: 2n });

    await setBlocks(database.db, "block_readopted", [second]);
    await project(database.db, targets);
    expect(await transfers()).toEqual({ [addressOf(7)]: 3n, [addressOf(8)]: 1n });
  });
});

describe("the guide", () => {
  it("names files that exist", () => {
    const named = [...guide.matchAll(/`((?:projections|test)\/[\w./-]+)`/g)].flatMap(
      ([, path]) => path ?? [],
    );
    expect(named.length).toBeGreaterThan(5);
    expect(named.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });

  it("touches at most three files beside the folder", () => {
    const [, beside = ""] = guide.split("## The files beside it");
    expect(beside.match(/^\d\. /gm)).toHaveLength(3);
  });
});
