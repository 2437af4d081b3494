import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventFilter, filterFields } from "#api/feed/event.ts";
import { type FeedEvent, formatEventId } from "#projections/activity/feed-events.ts";
import { type FeedSource, readFeed } from "#projections/activity/read-feed.ts";
import { readLogHead } from "#projections/log/blocks.ts";
import { openReader, type StreamReader } from "../integration/feed/feed-reader.ts";
import {
  catchUp,
  type FeedServer,
  makeCheckpoints,
  serveFeed,
  transfers,
} from "../integration/feed/feed-stage.ts";
import { type Random, randomFrom } from "../simulation/random.ts";
import { addressOf, appendEvents, type Block, setBlocks } from "../support/database/given.ts";
import { createDatabase, type TestDatabase } from "../support/database/postgres.ts";
import { testFee } from "../support/orders/test-market.ts";

let database: TestDatabase;
let server: FeedServer;
const readers: StreamReader[] = [];

beforeAll(async () => {
  database = await createDatabase();
  await makeCheckpoints(database.db);
  for (let step = 0; step < 5; step += 1) await happen(randomFrom(step));
  server = await restarted();
});
afterAll(async () => {
  for (const reader of readers) reader.leave();
  await server.close();
  await database.drop();
});

const restarted = () => serveFeed(database.db, { pollMs: 20, bufferBytes: 64 * 1024 });

const mined: Block[] = [];

/** Some blocks come, one goes or comes back. */
async function happen(random: Random): Promise<void> {
  const { db } = database;
  const events = transfers(random.int(1, 12));
  mined.push(...events.slice(0, 1).map(({ block }) => block));
  await appendEvents(db, events);
  const { chance } = random;
  if (chance(0.3)) await setBlocks(db, "block_retracted", [random.pick(mined.slice(-5))]);
  if (chance(0.3)) await setBlocks(db, "block_readopted", [random.pick(mined.slice(-5))]);
  await catchUp(db);
  if (chance(0.5)) server?.feed.notify();
}

/** The whole feed, folded from the log. */
async function wholeFeed(): Promise<FeedEvent[]> {
  const { db } = database;
  const source: FeedSource = { db, chainIds: [33139], feeRecipient: testFee.recipient };
  const upTo = await readLogHead(db);
  const events: FeedEvent[] = [];
  for (let after = 0n; after < upTo; ) {
    const part = await readFeed(source, { after, upTo, most: 100_000 });
    events.push(...part.events);
    after = part.reached;
  }
  return events;
}

type FeedQuery = { type?: "retracted"; collection?: string; wallet?: string };

const asked: FeedQuery[] = [
  {},
  {},
  { wallet: addressOf(11) },
  { collection: addressOf(1) },
  { type: "retracted" },
];

function chosen(events: readonly FeedEvent[], query: FeedQuery): string[] {
  const { type, collection, wallet } = filterFields;
  const parsed = {
    type: type.parse(query.type),
    collection: collection.parse(query.collection),
    wallet: wallet.parse(query.wallet),
  };
  return events.filter(eventFilter(parsed)).map(formatEventId);
}

describe("300 readers, who come and go while events flow, blocks leave and the server restarts,", () => {
  it("hear every event that they ask for once and in order", async () => {
    const random = randomFrom(1);
    const before = (await wholeFeed()).map(formatEventId);
    const begun = Array.from({ length: 300 }, (_, index) => {
      const query = asked[index % asked.length] ?? {};
      const from = random.pick(["0-0", ...before]);
      const url = () => server.stream(`?${new URLSearchParams(query)}`);
      const reader = openReader({ url, from, returnsAfterMs: random.int(1, 200) });
      readers.push(reader);
      return { reader, query, from };
    });
    await Promise.all(begun.map(({ reader }) => reader.connect()));

    for (let step = 0; step < 40; step += 1) {
      await happen(random);
      for (let count = 0; count < 5; count += 1) random.pick(readers).breakOff();
      if (step === 12 || step === 26) {
        await server.close();
        await happen(random);
        server = await restarted();
      }
      await delay(random.int(0, 10));
    }

    const whole = await wholeFeed();
    for (const { reader, query, from } of begun) {
      const after = whole.findIndex((event) => formatEventId(event) === from) + 1;
      const expected = chosen(whole.slice(after), query);
      await reader.until(({ heard }) => heard.length >= expected.length);
      expect(reader.heard.map(({ id }) => id)).toEqual(expected);
    }
    expect(whole.some(({ retracts }) => retracts !== null)).toBe(true);
    expect(whole.some(({ isReadopted }) => isReadopted)).toBe(true);
    expect(Math.max(...readers.map(({ connections }) => connections))).toBeGreaterThan(2);
  });
});
