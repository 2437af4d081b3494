import { sql } from "kysely";
import type { Hex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Anvil, startAnvil } from "#devnet/anvil.ts";
import { connect } from "#devnet/client.ts";
import { fetchCanonicalHashes, openChainClient } from "#jobs/chain/client.ts";
import { findFork } from "#ops/ponder/recover.ts";
import { addressOf, appendEvents, block } from "#test/support/database/given.ts";
import { createDatabase, type TestDatabase } from "#test/support/database/postgres.ts";

const head = 2_000;
let anvil: Anvil;
let database: TestDatabase;
let hashes: Map<bigint, Hex | null>;

beforeAll(async () => {
  anvil = await startAnvil({ chainId: 1 });
  await connect(anvil).mine({ blocks: head });
  const numbers = Array.from({ length: head + 1 }, (_, number) => BigInt(number));
  hashes = await fetchCanonicalHashes(
    openChainClient({ chainId: 1, rpcUrls: [anvil.rpcUrl] }),
    numbers,
  );
  database = await createDatabase();
  await sql`create schema ponder_sync`.execute(database.db);
  await sql`
    create table ponder_sync.blocks (chain_id bigint, number bigint, hash varchar(66), primary key (chain_id, number))
  `.execute(database.db);
});
afterAll(async () => {
  await anvil?.stop();
  await database?.drop();
});

/** Stores some of the chain's blocks, in Ponder's store and in the log by turns; those from the fork on are others. */
async function store(numbers: readonly number[], fork: number): Promise<void> {
  await sql`truncate ponder_sync.blocks, log.fact, log.block`.execute(database.db);
  await sql`update log.head set position = 0`.execute(database.db);
  const blocks = numbers.map((number) => {
    const alien = block(1, number, "alien");
    const hash = hashes.get(BigInt(number));
    return number >= fork || !hash ? alien : { ...alien, hash };
  });
  const rows = blocks.filter((_, index) => index % 2 === 0);
  await sql`
    insert into ponder_sync.blocks
    select 1, number, hash from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as row (number bigint, hash text)
  `.execute(database.db);
  const event = { kind: "erc721_transfer", contract: addressOf(1), tokenId: 1n } as const;
  const events = blocks.filter((_, index) => index % 2 === 1);
  await appendEvents(
    database.db,
    events.map((one) => ({ ...event, block: one, logIndex: 0 })),
  );
}

const every = (step: number) =>
  Array.from({ length: Math.floor(head / step) + 1 }, (_, index) => index * step);

describe("the fork of a branch that was left", () => {
  it.each([
    ["anywhere below", every(3), 1_302],
    ["just above a right block", every(3), 1_303],
    ["right at the head", every(1), head],
    ["below everything", every(7), 0],
    ["where few blocks are stored", [4, 900, 1_999], 900],
    ["nowhere", every(3), head + 1],
  ])("is found %s", async (_, numbers, fork) => {
    await store(numbers, fork);
    const client = openChainClient({ chainId: 1, rpcUrls: [anvil.rpcUrl] });
    const lowest = numbers.find((number) => number >= fork);
    expect(await findFork(database.db, client, BigInt(head))).toBe(
      lowest === undefined ? null : BigInt(lowest),
    );
  });
});
