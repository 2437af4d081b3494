import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { wrappedNative } from "#chains/index.ts";
import { appendObservations } from "#projections/log/append.ts";
import { storedRow } from "#projections/log/sql-values.ts";
import { addressOf, appendEvents, block, setBlocks } from "#test/support/database/given.ts";
import { operate, prepare } from "#test/support/database/operator.ts";
import { createDatabase, type TestDatabase } from "#test/support/database/postgres.ts";
import {
  approval,
  channelUpdated,
  counterRaised,
  filled,
  givenBid,
  givenListing,
  read,
  receivedAt,
  ticked,
  transferred,
} from "#test/support/orders/order-facts.ts";

const [alice, bob] = [addressOf(1), addressOf(2)];
const nft = addressOf(50);
const at = (number: number, log = 0) => ({ at: block(1, number), log });

const terms = { maker: alice, contract: nft, tokenId: 7n };
const listing = givenListing({ ...terms, endTime: receivedAt + 90n });
const other = givenListing({ ...terms, maker: bob, tokenId: 8n });
const bid = givenBid({ ...terms, maker: bob, unitPriceWei: 1_000n });
const weth = wrappedNative[1];

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase({ template: "projected" });
  const { db } = database;
  await appendObservations(db, [listing.submitted, other.submitted, bid.submitted]);
  await appendEvents(db, [
    {
      ...transferred({ contract: nft, to: alice, tokenId: 5n }, at(1)),
      kind: "erc721_consecutive_transfer",
      amount: 3n,
    },
    // Of another token, another owner, another contract: none of this listing's.
    transferred({ contract: nft, to: bob, tokenId: 8n }, at(1, 1)),
    approval(nft, bob, true, at(1, 2)),
    approval(addressOf(51), alice, true, at(1, 3)),
    approval(nft, alice, true, at(2)),
    { ...approval(nft, alice, true, at(2, 5)), to: addressOf(9) },
    channelUpdated(true, at(2, 1)),
    filled(listing, 1n, at(3)),
    {
      kind: "wrapped_deposit",
      contract: weth,
      to: bob,
      amount: 500n,
      block: block(1, 4),
      logIndex: 0,
    },
    {
      kind: "wrapped_deposit",
      contract: weth,
      to: alice,
      amount: 9n,
      block: block(1, 4),
      logIndex: 1,
    },
    counterRaised(alice, 1n, at(5)),
    counterRaised(alice, 1n, { at: block(33139, 5) }),
  ]);
  await appendObservations(db, [
    read({ kind: "balance_read", currency: weth, owner: bob, wei: 2_000n }, block(1, 6)),
    read({ kind: "owner_read", contract: nft, tokenId: 7n, owner: alice }, block(1, 6)),
    ticked(receivedAt + 50n),
    ticked(receivedAt + 91n),
    ticked(receivedAt + 200n),
  ]);
  await setBlocks(db, "block_retracted", [block(1, 3)]);
  await prepare(db);
});
afterAll(() => database.drop());

type Told = {
  position: number;
  kind: string;
  counts: boolean;
  droppedAt: number | null;
  amount: string | null;
  block: { number: number } | null;
  transactionHash: string | null;
  links: { block: string; transaction: string | null } | null;
};

async function explain(...args: string[]) {
  const { code, out, words } = await operate(database.url, "explain", ...args, "--json");
  if (code !== 0) throw new Error(words);
  return JSON.parse(out) as { rows: Record<string, unknown>[]; facts: Told[]; position: number };
}

const outline = (facts: readonly Told[]) =>
  facts.map(({ kind, counts, block: of }) => `${kind} ${of?.number ?? "-"} ${counts}`);

describe("op explain listing", () => {
  it("tells all that its state rests on, in the chain's order, and what a reorg took away", async () => {
    const { rows, facts, position } = await explain("listing", `ask-${listing.orderHash}`);

    expect(rows).toMatchObject([
      { status: "cancelled", token_id: "7", filled: "0", order_hash: listing.orderHash },
    ]);
    expect(outline(facts)).toEqual([
      "erc721_consecutive_transfer 1 true",
      "approval_for_all 2 true",
      "channel_updated 2 true",
      "order_fulfilled 3 false",
      "counter_incremented 5 true",
      "owner_read 6 true",
      "order_submitted - true",
      "clock_ticked - true",
    ]);
    expect(facts.find(({ kind }) => kind === "order_fulfilled")?.droppedAt).toBe(position);
    expect(facts.find(({ kind }) => kind === "clock_ticked")?.amount).toBe(`${receivedAt + 91n}`);
  });

  it("links blocks and transactions, and neither where there is none", async () => {
    const { facts } = await explain("listing", listing.orderHash.toUpperCase().replace("0X", "0x"));

    const byKind = (name: string) => facts.find(({ kind }) => kind === name);
    const transfer = byKind("erc721_consecutive_transfer");
    expect(transfer?.links).toEqual({
      block: "https://etherscan.io/block/1",
      transaction: `https://etherscan.io/tx/${transfer?.transactionHash}`,
    });
    expect(byKind("owner_read")?.links).toMatchObject({ block: "https://etherscan.io/block/6" });
    expect(byKind("owner_read")?.transactionHash).toBeNull();
    expect(byKind("order_submitted")?.links).toBeNull();
  });

  it("prints the row, and each fact with its verdict", async () => {
    const { code, out } = await operate(database.url, "explain", "listing", listing.orderHash);

    expect(code).toBe(0);
    expect(out).toContain('"status":"cancelled"');
    expect(out).toMatch(/\n8 facts, as of position \d+ of listings:\n/);
    expect(out).toMatch(/\nretracted by \d+ {2}\d+ {2}chain 1 {2}block 3 {2}log 0 {2}order_ful/);
  });
});

describe("op explain bid", () => {
  it("tells what its maker has, and what was read of that", async () => {
    const { rows, facts } = await explain("bid", `bid-${bid.orderHash}`);

    expect(rows).toMatchObject([{ status: "inactive", reason: "insufficient_allowance" }]);
    expect(outline(facts)).toEqual([
      "wrapped_deposit 4 true",
      "balance_read 6 true",
      "order_submitted - true",
    ]);
  });
});

it("op explain prints numbers of every size exactly, and bytes as hex", async () => {
  const { rows } = await sql`
    select ${storedRow(sql`r`)} as row
    from (values (${2n ** 256n - 1n}::numeric, '\\x00ff'::bytea, 'text', null::text)) r(id, hash, name, nothing)
  `.execute(database.db);
  const row = { id: `${2n ** 256n - 1n}`, hash: "0x00ff", name: "text", nothing: null };
  expect(rows).toEqual([{ row }]);
});

it("op explain fails for an order there is not, of the other side too, and for what is no id", async () => {
  const unknown = await operate(database.url, "explain", "listing", `0x${"00".repeat(32)}`);
  const otherSide = await operate(database.url, "explain", "listing", bid.orderHash);
  const malformed = await operate(database.url, "explain", "bid", "ask-7");

  expect([unknown.code, otherSide.code, malformed.code]).toEqual([1, 1, 2]);
  expect(unknown.words).toContain("no such listing");
  expect(malformed.words).toContain("expected the id or the order hash of the bid");
});
