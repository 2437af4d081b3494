import { sql } from "kysely";
import { pad, zeroAddress } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { cryptopunksAddress } from "#abis/cryptopunks.ts";
import { repairBlocks } from "#projections/log/audit.ts";
import { recordChain } from "#projections/log/recording/recorder.ts";
import { addressOf, block } from "#test/support/database/given.ts";
import { createDatabase, type TestDatabase } from "#test/support/database/postgres.ts";
import {
  createPonderTables,
  type Emitted,
  emit,
  endOf,
  finalize,
  takeBack,
} from "./ponder-tables.ts";

const [alice, bob, carol] = [1, 2, 3].map(addressOf) as [
  ...[ReturnType<typeof addressOf>, ReturnType<typeof addressOf>, ReturnType<typeof addressOf>],
];
const blocks = [1, 2, 3, 4].map((number) => block(1, number));
const [b1, b2, b3, b4] = blocks as [...[Block, Block, Block, Block]];
type Block = ReturnType<typeof block>;

let database: TestDatabase;
let chain: Block[] = blocks;
beforeAll(async () => {
  database = await createDatabase();
  await createPonderTables(database.db, "ponder_1", 1);
});
afterAll(() => database.drop());

function punkEvent(at: Block, logIndex: number, name: string, args: object): Emitted {
  const place = { block: at, logIndex, transactionIndex: 0, address: cryptopunksAddress };
  return { ...place, source: "CryptoPunks", name, args: { punkIndex: "7", ...args } };
}

async function record(): Promise<void> {
  const recording = {
    ...{ chainId: 1, indexer: "core" },
    canonicalHashes: async () => new Map(chain.map(({ number, hash }) => [BigInt(number), hash])),
    transfers: {
      events: [{ source: "CryptoPunks", name: "PunkBought", each: true }],
      fetch: async (all: readonly { hash: string }[]) =>
        new Map(all.map(({ hash }) => [hash, [5, 9].map((logIndex) => ({ logIndex, to: bob }))])),
    },
    now: () => new Date(0),
    fence: async () => {},
  };
  while ((await recordChain(database.db, recording)).more);
}

async function transfers() {
  const { rows } = await sql<{ log: number; from: string; to: string; token: string }>`
    select log_index as log, '0x' || encode(from_address, 'hex') as from, '0x' || encode(to_address, 'hex') as to,
           token_id::text as token
    from log.fact where kind = 10 order by block_id, log_index`.execute(database.db);
  return rows.map(({ log, from, to, token }) => [log, from, to, token]);
}

async function bids() {
  const { rows } = await sql<{ log: number; bid: unknown }>`
    select log_index as log, payload -> 'bid' as bid from log.fact
    where payload ->> 'event' = 'PunkBought' order by block_id, log_index`.execute(database.db);
  return rows.map(({ log, bid }) => [log, bid]);
}

const boughtByBid = { value: "0", fromAddress: alice, toAddress: zeroAddress };

describe("events of CryptoPunks", () => {
  it("are transfers too, and a purchase by bid stores the punk's last bid and its receiver", async () => {
    await emit(database.db, "ponder_1", [
      punkEvent(b1, 1, "Assign", { to: carol }),
      punkEvent(b1, 2, "PunkBidEntered", { value: "11", fromAddress: carol }),
      punkEvent(b1, 3, "PunkTransfer", { from: carol, to: alice }),
      punkEvent(b1, 4, "PunkBidEntered", { value: "22", fromAddress: bob }),
      punkEvent(b1, 5, "PunkBought", boughtByBid),
      punkEvent(b1, 6, "PunkBidEntered", { value: "33", fromAddress: bob }),
      punkEvent(b1, 7, "PunkBidEntered", { value: "44", fromAddress: bob, punkIndex: "8" }),
    ]);
    await finalize(database.db, "ponder_1", 1, endOf(b2));
    await record();
    expect(await transfers()).toEqual([
      [1, zeroAddress, carol, "7"],
      [3, carol, alice, "7"],
      [5, alice, bob, "7"],
    ]);
    expect(await bids()).toEqual([[5, { bidder: bob, wei: "22" }]]);
  });

  it("find a bid that was recorded before, and none of a block that left the chain", async () => {
    const orphan = { ...b3, hash: pad("0x33", { size: 32 }) };
    chain = [b1, b2, orphan, b4];
    await emit(database.db, "ponder_1", [
      punkEvent(orphan, 1, "PunkBidEntered", { value: "55", fromAddress: bob }),
    ]);
    await record();
    await takeBack(database.db, "ponder_1", [orphan]);
    chain = blocks;
    await emit(database.db, "ponder_1", [punkEvent(b3, 9, "PunkBought", boughtByBid)]);
    await record();
    const recorded = await sql<{ count: bigint }>`
      select count(*) from log.fact where kind = 36 and amount = 55`.execute(database.db);
    expect(recorded.rows).toEqual([{ count: 1n }]);
    expect(await bids()).toEqual([
      [5, { bidder: bob, wei: "22" }],
      [9, { bidder: bob, wei: "33" }],
    ]);
  });

  it("are the same when the audit appends them", async () => {
    const event = {
      ...{ chainId: 1, source: "CryptoPunks", name: "PunkBought", address: cryptopunksAddress },
      ...{ blockNumber: b4.number, blockHash: b4.hash, blockTimestamp: b4.timestamp },
      ...{ transactionHash: pad("0x44", { size: 32 }), transactionIndex: 0, logIndex: 9 },
      args: { punkIndex: "8", ...boughtByBid },
      ...{ sender: alice, target: cryptopunksAddress, calldataTail: null },
      transfers: [{ logIndex: 9, to: bob }],
    };
    const repair = { wrong: [], dropped: [], missing: [event], coins: {} };
    await repairBlocks(database.db, repair, new Date(0));
    expect((await bids()).at(-1)).toEqual([9, { bidder: bob, wei: "44" }]);
    expect((await transfers()).at(-1)).toEqual([9, alice, bob, "8"]);
  });
});
