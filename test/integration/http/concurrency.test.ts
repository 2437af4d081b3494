import { pino } from "pino";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { z } from "zod";
import { createApp } from "#api/app.ts";
import {
  type ConcurrencyLimiter,
  type LoadClass,
  openConcurrencyLimiter,
} from "#api/http/concurrency.ts";
import type { ServiceStatus } from "#api/status/service-status.ts";
import { route } from "#api/v1/context.ts";
import { createDatabase, type TestDatabase } from "#test/support/database/postgres.ts";
import { from, newAddress } from "#test/support/http/limited-api.ts";
import { type ApiClient, serve } from "#test/support/http/openapi.ts";
import { openTestMarket } from "#test/support/orders/test-market.ts";

/** In progress until the test finishes it. */
async function inProgress({ address }: { address: string }) {
  await new Promise<void>((finish) => running.push({ caller: address, finish }));
  return { data: {} };
}

/** A bulk request. */
const slowItems = route(
  {
    method: "post",
    path: "/v1/slow/items",
    operationId: "slow_items",
    tag: "Service",
    loadClass: "orders",
    body: z.object({ items: z.array(z.int()) }),
    reads: "nothing",
    summary: "Slow",
    data: z.object({}),
    refuses: { bad_structure: 422 },
  },
  inProgress,
);

let database: TestDatabase;
let api: ApiClient;
let concurrency: ConcurrencyLimiter;
/** The requests in progress, in the order in which they started. */
let running: { caller: string; finish: () => void }[] = [];

const idle: ServiceStatus = {
  ready: true,
  failing: [],
  warnings: [],
  logPosition: 0,
  chains: [],
  projections: [],
};

const total = 8;
const maxWaiting = 6;

/** An endpoint of that class, in progress until the test finishes it. */
const slow = (loadClass: LoadClass) =>
  route(
    {
      method: "get",
      path: `/v1/slow/${loadClass}`,
      operationId: `slow_${loadClass}`,
      tag: "Service",
      loadClass,
      // Requests start in the order in which they get a slot, not a connection.
      reads: "nothing",
      summary: "Slow",
      data: z.object({}),
      refuses: { invalid_parameters: 422 },
    },
    inProgress,
  );

beforeAll(async () => {
  database = await createDatabase();
});
beforeEach(() => open(2));

async function open(perCaller: number, places = total): Promise<void> {
  await api?.close();
  running = [];
  concurrency = openConcurrencyLimiter({
    total: places,
    perCaller,
    waiting: maxWaiting,
    waitMs: 600_000,
  });
  const context = {
    db: database.db,
    siteUrl: "https://site.example.test",
    chains: [33139] as const,
    readStatus: async () => idle,
    market: openTestMarket(database.db),
    now: () => new Date(),
  };
  const routes = [...(["book", "orders", "data", "lists"] as const).map(slow), slowItems];
  const logger = pino({ level: "silent" });
  const baseUrl = "https://api.example.test";
  api = await serve(
    createApp({ context, routes, baseUrl, logger, concurrency, trustProxy: ["127.0.0.1"] }),
  );
}
afterAll(async () => {
  await api?.close();
  await database?.drop();
});

const ask = (loadClass: LoadClass, caller = newAddress()) =>
  api.get(`/v1/slow/${loadClass}`, from(caller));

const postItems = (count: number, caller: string) =>
  api.post("/v1/slow/items", { items: Array(count).fill(1) }, from(caller));

/** Awaits the figures that requests on their way lead to. */
async function until(isReached: () => boolean): Promise<void> {
  while (!isReached()) await new Promise((resolve) => setTimeout(resolve, 5));
}
const figures = (loadClass: LoadClass) => concurrency.figures()[loadClass];

async function finishAll(): Promise<void> {
  while (running.length > 0) {
    running.shift()?.finish();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

it("one caller has no more in progress than its limit, and other callers do not wait for it", async () => {
  const greedy = newAddress();
  const many = Array.from({ length: 5 }, () => ask("book", greedy));
  await until(() => figures("book").waiting === 3);

  const other = ask("book");
  await until(() => running.length === 3);

  expect(running.map(({ caller }) => caller).filter((caller) => caller === greedy)).toHaveLength(2);
  while (running.length > 0) {
    await finishAll();
    await until(() => running.length > 0 || figures("book").inFlight === 0);
  }
  expect((await Promise.all([...many, other])).map(({ status }) => status)).toEqual(
    Array(6).fill(200),
  );
});

it("one caller's slow requests stop no other caller's, of whatever class", async () => {
  const greedy = newAddress();
  const slowOnes = [ask("orders", greedy), ask("orders", greedy)];
  await until(() => running.length === 2);

  const others = (["data", "lists"] as const).map((loadClass) => ask(loadClass));
  await until(() => running.length === 4);

  await finishAll();
  expect((await Promise.all([...slowOnes, ...others])).map(({ status }) => status)).toEqual(
    Array(4).fill(200),
  );
});

it("one caller has a quarter of a class at most, and leaves the rest of it to others", async () => {
  await open(8, 32);
  const greedy = newAddress();
  const many = Array.from({ length: 6 }, () => ask("lists", greedy));
  await until(() => figures("lists").waiting === 4);

  const others = Array.from({ length: 4 }, () => ask("lists"));
  await until(() => running.length === 6);

  expect(running.filter(({ caller }) => caller === greedy)).toHaveLength(2);
  while (figures("lists").inFlight + figures("lists").waiting > 0) {
    await finishAll();
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(new Set((await Promise.all([...many, ...others])).map(({ status }) => status))).toEqual(
    new Set([200]),
  );
});

it("who waits is served round robin by caller", async () => {
  const holders = Array.from({ length: total }, () => ask("book"));
  await until(() => running.length === total);
  const [one, other] = [newAddress(), newAddress()];
  const waiting: Promise<unknown>[] = [];
  for (const caller of [one, one, one, other, other]) {
    const before = figures("book").waiting;
    waiting.push(ask("book", caller));
    await until(() => figures("book").waiting === before + 1);
  }

  const started = running.splice(0);
  for (const { finish } of started.slice(0, 3)) finish();
  await until(() => running.length === 3);

  expect(running.map(({ caller }) => caller)).toEqual([one, other, one]);
  for (const { finish } of started.slice(3)) finish();
  while (figures("book").inFlight > 0) {
    await finishAll();
    await new Promise((resolve) => setImmediate(resolve));
  }
  await Promise.all([...holders, ...waiting]);
});

it("under load long lists are shed first and reads of the book last, with 503 and Retry-After", async () => {
  const holders = Array.from({ length: total / 4 }, () => ask("lists"));
  await until(() => running.length === total / 4);
  const lists = Array.from({ length: maxWaiting }, () => ask("lists"));
  await until(() => figures("lists").waiting === maxWaiting);

  const book = Array.from({ length: total - running.length }, () => ask("book"));
  await until(() => running.length === total);
  const more = Array.from({ length: maxWaiting }, () => ask("book"));
  const shed = await Promise.all(lists);

  expect(shed.map(({ status }) => status)).toEqual(Array(maxWaiting).fill(503));
  expect(shed[0]?.headers.get("retry-after")).toBe("10");
  expect(shed[0]?.body).toMatchObject({ success: false, code: "overloaded" });
  expect(figures("book")).toEqual({ inFlight: total - total / 4, waiting: maxWaiting, shed: 0 });
  const metrics = await (await fetch(`${api.url}/metrics`)).text();
  expect(metrics).toContain(`http_requests_shed_total{class="lists"} ${maxWaiting}`);
  expect(metrics).toContain(`http_requests_waiting{class="book"} ${maxWaiting}`);

  const refused = await ask("lists");
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "10"]);

  while (figures("book").inFlight + figures("lists").inFlight > 0) {
    await finishAll();
    await new Promise((resolve) => setImmediate(resolve));
  }
  const answered = await Promise.all([...holders, ...book, ...more]);
  expect(new Set(answered.map(({ status }) => status))).toEqual(new Set([200]));
});

it("a caller that leaves while it waits takes no slot", async () => {
  const caller = newAddress();
  const first = [ask("book", caller), ask("book", caller)];
  await until(() => running.length === 2);
  const left = new AbortController();
  const headers = from(caller);
  const gone = fetch(`${api.url}/v1/slow/book`, { headers, signal: left.signal }).catch(() => null);
  await until(() => figures("book").waiting === 1);

  left.abort();
  await gone;
  await until(() => figures("book").waiting === 0);
  await finishAll();
  await Promise.all(first);

  expect(running).toEqual([]);
});

it("a bulk request counts as its items, up to half of its caller's limit", async () => {
  await open(8, 32);
  const greedy = newAddress();
  const asked = [postItems(3, greedy), postItems(20, greedy), ask("orders", greedy)];
  await until(() => running.length === 3);

  asked.push(ask("orders", greedy), postItems(20, newAddress()));
  await until(() => running.length === 4);
  expect(figures("orders")).toEqual({ inFlight: 4, waiting: 1, shed: 0 });

  running.shift()?.finish();
  await until(() => figures("orders").waiting === 0);
  await finishAll();
  expect((await Promise.all(asked)).map(({ status }) => status)).toEqual(Array(5).fill(200));
});

it("who waits too long gets 503 with the time to come back", async () => {
  const limiter = openConcurrencyLimiter({ total: 1, perCaller: 1, waitMs: 1 });
  const left = new AbortController().signal;
  const first = await limiter.acquire("book", "one", left);

  expect(await limiter.acquire("orders", "other", left)).toBe("shed");
  expect(await limiter.acquire("book", "one", left)).toBe("shed");
  if (first !== "shed") first.release();
  expect(await limiter.acquire("book", "one", left)).not.toBe("shed");
});
