import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { activityProjection as activity } from "#projections/activity/activity.ts";
import { type FeedEvent, formatEventId, isAfter } from "#projections/activity/feed-events.ts";
import { eventsWhere } from "#projections/activity/read-event-scans.ts";
import { type FeedSource, readFeed } from "#projections/activity/read-feed.ts";
import { dropTarget } from "#projections/engine/checkpoint.ts";
import { readLogHead } from "#projections/log/blocks.ts";
import type { Database } from "#projections/log/database.ts";
import { kindLiteral } from "#projections/log/fact-kinds.ts";
import { schemaOf } from "#projections/log/versions.ts";
import { salesProjection } from "#projections/sales/sales.ts";
import { feeRecipient } from "#test/simulation/events.ts";
import { makeHistory } from "#test/simulation/history.ts";
import { randomFrom } from "#test/simulation/random.ts";
import { orderedSteps, type Step, shuffledSteps } from "#test/simulation/script.ts";
import { createProjection, project } from "#test/support/database/given.ts";
import { createDatabase, type TestDatabase } from "#test/support/database/postgres.ts";
import { seedsOf } from "#test/support/thoroughness.ts";
import { carryOut } from "./feed-stage.ts";

let database: TestDatabase;
let db: Database;
let source: FeedSource;
const sales = salesProjection({ feeRecipient });
const seeds = seedsOf([1, 2, 3, 4]);

beforeAll(async () => {
  database = await createDatabase();
  db = database.db;
  source = { db, chainIds: [1, 33139], feeRecipient };
});
afterAll(() => database.drop());
beforeEach(async () => {
  for (const schema of ["activity", "sales"].map(schemaOf)) await dropTarget(db, schema);
  await sql`truncate log.fact, log.block, log.transaction, log.contract, log.transaction_part`.execute(
    db,
  );
  await sql`update log.head set position = 0`.execute(db);
});

describe.each(["as watched", "out of order"] as const)("the feed of a history, %s,", (order) => {
  it.each(seeds)(
    "is read later as it was read live, in parts of any size (seed %i)",
    async (seed) => {
      const live: FeedEvent[] = [];
      let seen = 0n;
      for (const step of stepsOf(order, seed)) {
        await carryOut(db, step);
        const head = await readLogHead(db);
        live.push(...(await readAll(seen, head, 1_000)));
        seen = head;
      }

      expect(live.length).toBeGreaterThan(50);
      for (const most of [1, 2, 7, 50, 100_000]) {
        expect(await readAll(0n, seen, most)).toEqual(live);
      }
    },
  );

  it.each(seeds)("gives every event an id of its own, in order (seed %i)", async (seed) => {
    for (const step of stepsOf(order, seed)) await carryOut(db, step);

    const events = await readAll(0n, await readLogHead(db), 1_000);
    for (const [index, event] of events.entries()) {
      const next = events[index + 1];
      if (next !== undefined) expect(isAfter(next, event)).toBe(true);
    }
  });

  it.each(seeds)(
    "adds up to what the projections hold, after any append (seed %i)",
    async (seed) => {
      const heads: bigint[] = [];
      for (const step of stepsOf(order, seed)) {
        await carryOut(db, step);
        heads.push(await readLogHead(db));
      }
      const head = await readLogHead(db);
      const events = await readAll(0n, head, 1_000);
      const targets = [await createProjection(db, sales), await createProjection(db, activity)];

      for (let part = 1; part <= 6; part += 1) {
        const position = heads[Math.ceil((heads.length * part) / 6) - 1] ?? head;
        await project(db, targets, 1_000, position);
        const told = standing(events.filter((event) => event.position <= position));
        expect(told.map(textOf).toSorted()).toEqual(await readActivity(withoutToken(told)));
      }
      expect(told(events, "listing") + told(events, "offer")).toBe(await countOrders());
    },
  );
});

function stepsOf(order: "as watched" | "out of order", seed: number): Step[] {
  const random = randomFrom(seed);
  const history = makeHistory(random, { turns: 12, reorgDepth: 10 });
  return order === "as watched" ? orderedSteps(random, history) : shuffledSteps(random, history);
}

async function readAll(from: bigint, upTo: bigint, most: number): Promise<FeedEvent[]> {
  const events: FeedEvent[] = [];
  for (let after = from; after < upTo; ) {
    const part = await readFeed(source, { after, upTo, most });
    events.push(...part.events);
    after = part.reached;
  }
  return events;
}

/** What a reader holds who adds each event and takes away each that is retracted. */
function standing(events: readonly FeedEvent[]): FeedEvent[] {
  const held = new Map<string, FeedEvent>();
  for (const event of events) {
    if (event.retracts === null) {
      held.set(formatEventId(event), event);
      continue;
    }
    const id = formatEventId(event.retracts);
    expect(held.get(id)?.content).toEqual(event.content);
    held.delete(id);
  }
  return [...held.values()].filter(
    ({ content: { type } }) => type !== "listing" && type !== "offer",
  );
}

const textOf = ({ content }: FeedEvent): string =>
  [
    ...[
      content.type,
      content.chainId,
      content.blockHash,
      content.txHash,
      content.logIndex,
      content.timestamp.getTime(),
    ],
    ...[content.contract, content.tokenId],
    ...[
      content.quantity,
      content.from,
      content.to,
      content.priceWei,
      content.currency,
      content.orderHash,
    ],
  ].join(" ");

/** Cancels of orders that came later: the feed cannot know their token any more, the activity takes it then. */
const withoutToken = (events: readonly FeedEvent[]): ReadonlySet<string> =>
  new Set(
    events
      .filter(({ content }) => content.type === "cancel" && content.contract === null)
      .map(({ content }) => `${content.blockHash} ${content.logIndex}`),
  );

async function readActivity(untold: ReadonlySet<string>): Promise<string[]> {
  const { rows } = await sql<Record<string, unknown> & { timestamp: Date }>`
    select e.type, b.chain_id, b.hash as block, t.hash as tx, e.log_index, b.timestamp, c.address, e.token_id,
           e.quantity, e.from_address, e.to_address, e.price_wei, e.currency, e.order_hash
    from (${eventsWhere(sql`true`)}) e
    join log.block b using (block_id)
    left join log.transaction t using (block_id, transaction_index)
    left join log.contract c using (contract_id)`.execute(db);
  return rows
    .map((row) => {
      const isUntold = row.type === "cancel" && untold.has(`${row.block} ${row.log_index}`);
      const token = isUntold ? { address: null, token_id: null } : {};
      return Object.values({ ...row, ...token, timestamp: row.timestamp.getTime() }).join(" ");
    })
    .toSorted();
}

const told = (events: readonly FeedEvent[], type: string) =>
  events.filter((event) => event.content.type === type).length;

async function countOrders(): Promise<number> {
  const { rows } = await sql<{ orders: bigint }>`
    select count(*) as orders from log.fact where kind = ${kindLiteral("order_submitted")}`.execute(
    db,
  );
  return Number(rows[0]?.orders);
}
