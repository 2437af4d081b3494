import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import type { FeedEvent } from "#projections/activity/feed-events.ts";
import { type FeedSource, readFeed, readFeedPosition } from "#projections/activity/read-feed.ts";
import type { TokenTransfer } from "#projections/exchanges/model/exchange.ts";
import { readLogHead } from "#projections/log/blocks.ts";
import type { Database } from "#projections/log/database.ts";
import { addressOf, appendEvents, block, type ChainEvent } from "#test/support/database/given.ts";
import { createDatabase, type TestDatabase } from "#test/support/database/postgres.ts";
import { soldOnLooksrare, soldOnX2y2 } from "#test/support/market-data/exchange-sales.ts";
import { transferred } from "#test/support/orders/order-facts.ts";
import { testFee } from "#test/support/orders/test-market.ts";
import { makeCheckpoints } from "./feed-stage.ts";

const [apes, alice, bob, carol] = [1, 2, 3, 4].map(addressOf) as [
  ...[`0x${string}`, `0x${string}`, `0x${string}`, `0x${string}`],
];
const at = block(1, 100);
const token = { standard: "erc721" as const, contract: apes, tokenId: "7", amount: "1" };
const transfers: TokenTransfer[] = [
  { ...token, logIndex: 11, from: alice, to: bob },
  { ...token, logIndex: 21, from: bob, to: carol },
];

/** Alone it reads as a purchase of Carol's, whom Bob, the taker, hands the token on. */
const bought = inTransaction(
  soldOnLooksrare(
    { contract: apes, tokenId: 7n, seller: alice, buyer: bob, priceWei: 10n },
    { at, log: 10 },
  ),
);
const soldOn = inTransaction(
  soldOnX2y2(
    { contract: apes, tokenId: 7n, seller: bob, buyer: carol, priceWei: 20n },
    { at, log: 20 },
  ),
);
const [toBob, toCarol] = [
  { from: alice, to: bob, log: 11 },
  { from: bob, to: carol, log: 21 },
].map(({ log, ...parties }) =>
  inTransaction(transferred({ contract: apes, tokenId: 7n, ...parties }, { at, log })),
) as [ChainEvent, ChainEvent];
const events = [bought, toBob, soldOn, toCarol];

function inTransaction(event: ChainEvent): ChainEvent {
  const payload = event.payload === undefined ? {} : { payload: { ...event.payload, transfers } };
  return { ...event, ...payload, transactionIndex: 0 };
}

let database: TestDatabase;
let db: Database;
let source: FeedSource;

beforeAll(async () => {
  database = await createDatabase();
  db = database.db;
  source = { db, chainIds: [1], feeRecipient: testFee.recipient };
});
afterAll(() => database.drop());
beforeEach(async () => {
  await sql`truncate log.fact, log.block, log.transaction, log.contract, log.transaction_part`.execute(
    db,
  );
  await sql`update log.head set position = 0`.execute(db);
});

async function read(after: bigint, upTo: bigint): Promise<FeedEvent[]> {
  return upTo <= after ? [] : (await readFeed(source, { after, upTo, most: 1_000 })).events;
}

async function expectSameInEveryCut(whole: readonly FeedEvent[], head: bigint): Promise<void> {
  for (let first = 0n; first <= head; first += 1n) {
    for (let second = first; second <= head; second += 1n) {
      const parts = [await read(0n, first), await read(first, second), await read(second, head)];
      expect(parts.flat()).toEqual(whole);
    }
  }
}

const summaryOf = ({ position, content, retracts }: FeedEvent) =>
  [position, retracts === null ? content.type : "retracted", content.to].join(" ");

it("a transaction that was appended at once is reported as all of it says, in pages of any cut", async () => {
  const { head } = await appendEvents(db, events);

  const whole = await read(0n, head);
  expect(whole.map(summaryOf)).toEqual([
    `1 sale ${bob}`,
    `2 transfer ${bob}`,
    `3 sale ${carol}`,
    `4 transfer ${carol}`,
  ]);
  await expectSameInEveryCut(whole, head);
});

it.each([1, 2, 3])(
  "what was reported of its first %i facts stays so when the others follow at once",
  async (count) => {
    const first = await appendEvents(db, events.slice(0, count));
    const live = await read(0n, first.head);
    const last = await appendEvents(db, events.slice(count));
    live.push(...(await read(first.head, last.head)));

    const sold = live.filter(({ content }) => content.type === "sale").map(summaryOf);
    expect(sold).toEqual(
      count === 3
        ? [`1 sale ${bob}`, `3 sale ${carol}`]
        : [`1 sale ${carol}`, `3 retracted ${carol}`, `3 sale ${carol}`, `3 sale ${bob}`],
    );
    await expectSameInEveryCut(live, last.head);
  },
);

it("is handed out when the projections have all of what was appended at once", async () => {
  await appendEvents(db, events.slice(0, 1));
  await appendEvents(db, events.slice(1));
  await makeCheckpoints(db);
  const reached = [];
  for (let position = 0n; position <= (await readLogHead(db)); position += 1n) {
    await sql`update engine.checkpoint set position = ${position}`.execute(db);
    reached.push(await readFeedPosition(source));
  }
  expect(reached).toEqual([0n, 1n, 1n, 1n, 4n]);
});
