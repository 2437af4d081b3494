import { setTimeout as delay } from "node:timers/promises";
import { sql } from "kysely";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { eventFilter } from "#api/feed/event.ts";
import type { ChainId } from "#chains/index.ts";
import type { WebhookFilter } from "#jobs/webhooks/read-due.ts";
import { formatEventId, isAfter, parseEventId } from "#projections/activity/feed-events.ts";
import { type FeedSource, readFeed } from "#projections/activity/read-feed.ts";
import { readLogHead } from "#projections/log/blocks.ts";
import type { Database } from "#projections/log/database.ts";
import { carryOut, catchUp, makeCheckpoints } from "#test/integration/feed/feed-stage.ts";
import { feeRecipient } from "#test/simulation/events.ts";
import { makeHistory } from "#test/simulation/history.ts";
import { type Random, randomFrom } from "#test/simulation/random.ts";
import { orderedSteps } from "#test/simulation/script.ts";
import { createDatabase, type TestDatabase } from "#test/support/database/postgres.ts";
import { seedsOf } from "#test/support/thoroughness.ts";
import { type Deliverer, makeWebhook, startDelivering } from "./delivering.ts";
import { type Behaviour, openReceivers, type Receivers } from "./receivers.ts";
import { expectVerified } from "./verifying.ts";

let database: TestDatabase;
let db: Database;
let receivers: Receivers;
let deliverer: Deliverer;
beforeEach(async () => {
  unverified = [];
  database = await createDatabase();
  db = database.db;
  receivers = await openReceivers();
  await makeCheckpoints(db);
});
afterEach(async () => {
  await deliverer?.stop();
  await receivers.close();
  await database.drop();
});

const timeoutMs = 100;
/** How long each history is spread over; 0: as fast as it can be appended. */
const seconds = Number(process.env.WEBHOOK_SECONDS ?? 0);
const turns = 12 + Math.ceil(seconds / 3);

type AskedWebhook = { chainId: ChainId; delivery?: "latest" | "final"; filter?: WebhookFilter };

const asked: readonly AskedWebhook[] = [
  { chainId: 1 },
  { chainId: 33139 },
  { chainId: 33139, filter: { type: ["sale", "retracted"] } },
  { chainId: 1, filter: { type: ["transfer", "mint"] } },
  { chainId: 1, delivery: "final" },
  { chainId: 33139, delivery: "final" },
];

describe("receivers that are killed, slow, wrong and right at random", () => {
  it.each(seedsOf([1, 2, 3, 4, 5, 6]))(
    "have each event of the feed that is theirs, in order and verified, under reorgs and restarts (seed %i)",
    { timeout: 2_000 * seconds + 600_000 },
    async (seed) => {
      const random = randomFrom(seed);
      const webhooks = await makeWebhooks(random);
      await trade(random);
      await makeAllFinal();
      deliverer.notify();
      receivers.kill(false);
      for (const { path, secret } of webhooks)
        receivers.behave(
          path,
          verifying(secret, () => 200),
        );

      let [events, requests] = [0, 0];
      for (const { path, secret: _, ...of } of webhooks) {
        const expected = await idsOf(of);
        events += expected.length;
        await expect.poll(() => takenAt(path).size, { message: path }).toBe(expected.length);
        expect([...takenAt(path)]).toEqual(expected);
        expectInOrder(receivers.at(path).map(({ id }) => id));
        requests += receivers.at(path).length;
      }
      expect(events).toBeGreaterThan(100);
      expect(unverified).toEqual([]);
      const told = `${events} events by ${requests} requests over ${seconds} s`;
      process.stdout.write(`seed ${seed}: ${told}, each verified twice\n`);
    },
  );
});

const start = () =>
  startDelivering({ db, sending: { timeoutMs, allowedOrigins: [receivers.origin] } });

/** A history, while who delivers is stopped and started now and then, and so are all receivers. */
async function trade(random: Random): Promise<void> {
  deliverer = start();
  const steps = orderedSteps(random, makeHistory(random, { turns, reorgDepth: 10 }));
  const begun = performance.now();
  for (const [index, step] of steps.entries()) {
    await carryOut(db, step);
    await catchUp(db);
    deliverer.notify();
    if (random.chance(0.3)) await delay(random.int(0, 40));
    const due = begun + (1_000 * seconds * (index + 1)) / steps.length;
    await delay(Math.max(0, due - performance.now()));
    receivers.kill(random.chance(0.1));
    if (random.chance(0.1)) {
      await deliverer.stop();
      deliverer = start();
    }
  }
}

/** What a receiver took, each once, in the order in which it first did. */
const takenAt = (path: string): Set<string> =>
  new Set(
    receivers
      .at(path)
      .filter(({ status }) => status !== null && status >= 200 && status < 300)
      .map(({ id }) => id),
  );

async function makeWebhooks(random: Random) {
  const made = [];
  for (const [index, one] of asked.entries()) {
    const path = `/${index}`;
    const { secret } = await makeWebhook(db, { ...one, url: receivers.origin + path });
    receivers.behave(path, verifying(secret, behaviourOf(random.fork())));
    made.push({ ...one, path, secret });
  }
  return made;
}

/** Why a delivery was not verified, each as it came: a signature is valid for five minutes. */
let unverified: unknown[] = [];

function verifying(secret: string, behaviour: Behaviour): Behaviour {
  return (delivery, ...more) => {
    try {
      expectVerified(delivery, secret);
    } catch (error) {
      unverified.push(error);
    }
    return behaviour(delivery, ...more);
  };
}

/** Right about half of the time. */
function behaviourOf(random: Random): Behaviour {
  const behaviours: Behaviour[] = [
    () => 200,
    () => 204,
    async () => {
      await delay(random.int(1, 30));
      return 200;
    },
    () => 500,
    () => 302,
    async () => {
      await delay(2 * timeoutMs);
      return 200;
    },
    (_, __, socket) => {
      socket.resetAndDestroy();
      return null;
    },
    (_, response) => {
      response.writeHead(200).flushHeaders();
      setImmediate(() => response.destroy());
      return null;
    },
  ];
  return (...delivery) => (random.chance(0.4) ? 200 : random.pick(behaviours)(...delivery));
}

/** Each is the last one again, or one after it. */
function expectInOrder(ids: readonly string[]): void {
  const places = ids.map((id) => parseEventId(id));
  for (const [index, place] of places.entries()) {
    const next = places[index + 1];
    if (place !== undefined && next !== undefined) expect(isAfter(place, next)).toBe(false);
  }
}

async function idsOf({
  chainId,
  delivery = "latest",
  filter = {},
}: AskedWebhook): Promise<string[]> {
  const source: FeedSource = { db, chainIds: [chainId], feeRecipient, delivery };
  const upTo = await readLogHead(db);
  const matches = eventFilter(filter);
  const ids: string[] = [];
  for (let after = 0n; after < upTo; ) {
    const part = await readFeed(source, { after, upTo, most: 1_000 });
    ids.push(...part.events.filter(matches).map(formatEventId));
    after = part.reached;
  }
  return ids;
}

async function makeAllFinal(): Promise<void> {
  for (const chainId of [1, 33139]) {
    await sql`insert into ops.chain_finality (chain_id, number, said_by) values (${chainId}, 1000000, 'tag')`.execute(
      db,
    );
    await sql`insert into ops.recorder (chain_id, ponder_schema, settled_id) values (${chainId}, 'p', ${"9".repeat(75)})`.execute(
      db,
    );
  }
}
