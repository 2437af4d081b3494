import { setTimeout as delay } from "node:timers/promises";
import { sql } from "kysely";
import { pino } from "pino";
import { afterAll, beforeAll, expect, it } from "vitest";
import { z } from "zod";
import { createApp } from "#api/app.ts";
import type { WaitOutcome } from "#api/http/reads/positioned-reads.ts";
import { openResponseCache } from "#api/http/reads/response-cache.ts";
import { type Listening, listen } from "#api/http/server.ts";
import { routes } from "#api/routes.ts";
import { route } from "#api/v1/context.ts";
import { openReads } from "#ops/processes/roles/api.ts";
import { roleDatabase } from "#ops/processes/roles/role.ts";
import { allProjections } from "#projections/all.ts";
import { appendObservations } from "#projections/log/append.ts";
import { openDatabase } from "#projections/log/database.ts";
import { readOrderBookPosition } from "#projections/orders/read-orders.ts";
import { addressOf, createProjections, project } from "#test/support/database/given.ts";
import { type OwnServer, openOwnServer } from "#test/support/database/own-server.ts";
import { createDatabase, type TestDatabase } from "#test/support/database/postgres.ts";
import { openStandby } from "#test/support/database/standby.ts";
import { feeRecipient, givenListing, receivedAt } from "#test/support/orders/order-facts.ts";
import { openTestMarket } from "#test/support/orders/test-market.ts";

/** `TOKEN_PAIRS=100000` for a whole run. */
const pairs = Number(process.env.TOKEN_PAIRS ?? 1_000);
/** As many wait for the standby at a time. */
const callers = 64;

let primary: OwnServer;
let standby: OwnServer;
let database: TestDatabase;
let reads: ReturnType<typeof openReads>;
let api: Listening;
const waits: { ms: number; outcome: WaitOutcome }[] = [];
const ending = new AbortController();
let projecting: Promise<void>;
let standbyUrl: string;

/** Appends a listing: what a POST of an order does behind its checks. */
const postListing = route(
  {
    method: "post",
    path: "/v1/test/listings",
    operationId: "postTestListing",
    tag: "Orders",
    summary: "Appends a listing",
    body: z.strictObject({ salt: z.int() }),
    data: z.object({ askId: z.string() }),
    refuses: { bad_structure: 422 },
  },
  async ({ body }, { market }) => {
    const { orderHash, submitted } = givenListing({
      ...{ maker: addressOf(1), contract: addressOf(2), tokenId: BigInt(body.salt) },
      salt: BigInt(body.salt),
    });
    const { head } = await appendObservations(market.writer, [submitted]);
    await market.waitUntilProjected(head);
    return { data: { askId: `mkt-${orderHash}` } };
  },
);

beforeAll(async () => {
  primary = await openOwnServer({ replicates: true });
  database = await createDatabase({ server: primary.url });
  const { db } = database;
  const targets = await createProjections(db, allProjections({ feeRecipient }));
  standby = await openStandby(primary);
  standbyUrl = standby.url.replace(/\/postgres$/, `/${database.name}`);
  const logger = pino({ level: "silent" });
  const market = openTestMarket(db, {}, async (position) => {
    while ((await readOrderBookPosition(db)) < position) await delay(2);
    return true;
  });
  reads = openReads({
    // A standby is read however late it is: the token alone keeps answers from being stale.
    database: {
      ...roleDatabase({ replicas: [], maxReplicaLagSeconds: 3_600, poolerUrl: null }, database.url),
      replicas: [{ url: standbyUrl, weight: 1 }],
    },
    logger,
    written: market.writtenPosition,
    onWait: (ms, outcome) => waits.push({ ms, outcome }),
  });
  const now = () => new Date(Number(receivedAt + 60n) * 1_000);
  const app = createApp({
    context: {
      db,
      siteUrl: "https://site.example.test",
      chains: [1, 33139],
      readStatus: () => Promise.reject(new Error("the status is not used in this test")),
      market,
      now,
    },
    routes: [...routes, postListing],
    baseUrl: "https://api.example.test",
    logger,
    reads: reads.reads,
    responseCache: openResponseCache({ now }),
  });
  api = await listen(app, "127.0.0.1", 0);
  projecting = (async () => {
    while (!ending.signal.aborted) {
      await project(db, targets);
      await delay(1);
    }
  })();
});
afterAll(async () => {
  ending.abort();
  await projecting;
  await api?.close();
  await reads?.close();
  await database?.close();
  await standby?.close();
  await primary?.close();
});

/** Applies late by ever other times, and is killed now and then. */
async function disturb(isOver: () => boolean): Promise<{ kills: number }> {
  const delays = ["0", "20ms", "150ms", "10s"];
  let kills = 0;
  for (let round = 0; !isOver(); round += 1) {
    const admin = openDatabase({
      ...{ url: standby.url, applicationName: "test", max: 1, onIdleError: () => {} },
    });
    await sql
      .raw(`alter system set recovery_min_apply_delay = '${delays[round % delays.length]}'`)
      .execute(admin);
    await sql`select pg_reload_conf()`.execute(admin);
    await admin.destroy();
    await delay(1_000 + Math.random() * 1_000);
    if (round % 3 !== 2) continue;
    await standby.kill();
    kills += 1;
    await delay(Math.random() * 500);
    await standby.start();
  }
  return { kills };
}

type Seen = { answers: number; stale: number; refused: number; worstMs: number };

/** Posts, and reads what was posted by the token of the answer. */
async function pair(salt: number, seen: Seen): Promise<void> {
  const base = `http://127.0.0.1:${api.port}`;
  const posted = await fetch(`${base}/v1/test/listings`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ salt }),
  });
  expect(posted.status).toBe(200);
  const position = posted.headers.get("x-position") ?? "";
  const { data } = (await posted.json()) as { data: { askId: string } };
  const startedAt = performance.now();
  for (;;) {
    const answer = await fetch(`${base}/v1/listings/${data.askId}?chainId=1`, {
      headers: { "X-Min-Position": position },
    });
    await answer.arrayBuffer();
    if (answer.status === 503) {
      seen.refused += 1;
      expect(answer.headers.get("retry-after")).not.toBeNull();
      await delay(50);
      continue;
    }
    seen.answers += 1;
    const told = BigInt(answer.headers.get("x-position") ?? -1);
    if (answer.status !== 200 || told < BigInt(position)) seen.stale += 1;
    seen.worstMs = Math.max(seen.worstMs, performance.now() - startedAt);
    return;
  }
}

it("no answer to a token is older than the token, whatever the standby does", async () => {
  const seen: Seen = { answers: 0, stale: 0, refused: 0, worstMs: 0 };
  let next = 0;
  let isOver = false;
  const disturbing = disturb(() => isOver);
  let used = 0;
  const watching = setInterval(() => {
    used += Number(reads.replicaStates()[0]?.isUsed);
  }, 100);
  await Promise.all(
    Array.from({ length: callers }, async () => {
      while (next < pairs) {
        next += 1;
        await pair(next, seen);
      }
    }),
  );
  isOver = true;
  clearInterval(watching);
  const { kills } = await disturbing;
  const ms = waits.map((one) => one.ms).sort((one, other) => one - other);
  const at = (share: number) => Math.round(ms[Math.floor(ms.length * share)] ?? 0);
  const of = (outcome: WaitOutcome) => waits.filter((one) => one.outcome === outcome).length;
  const figures = { pairs, kills, ...seen, waits: ms.length, p50: at(0.5), p99: at(0.99) };
  const outcomes = { reached: of("reached"), primary: of("primary"), not: of("not_reached") };
  process.stdout.write(`${JSON.stringify({ ...figures, ...outcomes })}\n`);
  // The primary has what its callers were told of.
  expect(seen).toMatchObject({ answers: pairs, stale: 0, refused: 0 });
  expect(kills).toBeGreaterThan(0);
  expect(used).toBeGreaterThan(0);
  expect(outcomes.reached).toBeGreaterThan(0);
});
