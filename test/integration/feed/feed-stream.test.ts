import { once } from "node:events";
import { connect } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { sql } from "kysely";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import type { FeedLimits } from "#api/feed/subscribers.ts";
import { schemaOf } from "#projections/log/versions.ts";
import { addressOf, appendEvents } from "#test/support/database/given.ts";
import { createDatabase, type TestDatabase } from "#test/support/database/postgres.ts";
import { openReader, type StreamReader } from "./feed-reader.ts";
import {
  catchUp,
  type FeedServer,
  makeCheckpoints,
  serveFeed,
  transferred,
  transfers,
} from "./feed-stage.ts";

let database: TestDatabase;
let servers: FeedServer[] = [];
let readers: StreamReader[] = [];

beforeAll(async () => {
  database = await createDatabase();
  await makeCheckpoints(database.db);
});
afterAll(() => database.drop());
afterEach(async () => {
  for (const reader of readers) reader.leave();
  await Promise.all(servers.map((server) => server.close()));
  [readers, servers] = [[], []];
});

const quick: Partial<FeedLimits> = { pollMs: 20 };

async function start(limits: Partial<FeedLimits> = {}): Promise<FeedServer> {
  const server = await serveFeed(database.db, { ...quick, ...limits });
  servers.push(server);
  return server;
}

function reading(server: FeedServer, query = "", from?: string): StreamReader {
  const reader = openReader({
    url: () => server.stream(query),
    ...(from !== undefined && { from }),
  });
  readers.push(reader);
  return reader;
}

const Page = z.object({
  data: z.array(z.looseObject({ id: z.string() })),
  meta: z.object({ next: z.string(), has_more: z.boolean() }),
});

/** Every event of the chain behind an id, page by page. */
async function pages(server: FeedServer, after: string, query = "") {
  const data: z.output<typeof Page>["data"] = [];
  for (let next = after; ; ) {
    const path = `/v1/events?chainId=33139&per_page=100&after=${next}${query}`;
    const page = Page.parse((await server.get(path)).body);
    data.push(...page.data);
    next = page.meta.next;
    if (!page.meta.has_more) return data;
  }
}

const snakeNamed = (event: object) =>
  Object.fromEntries(
    Object.entries(event).map(([name, value]) => [
      name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      value,
    ]),
  );

const idsOf = (reader: StreamReader) => reader.heard.map(({ id }) => id);

describe("the stream", () => {
  it("sends each event as the pages tell it, under its id and type", async () => {
    const server = await start();
    const reader = reading(server);
    await reader.connect();
    await reader.until(({ lastId }) => lastId !== "");
    const begin = reader.lastId;

    await transferred(database.db, 120);
    await reader.until(({ heard }) => heard.length === 120);

    const told = await pages(server, begin);
    expect(reader.heard.map(({ data }) => JSON.parse(data))).toEqual(told.map(snakeNamed));
    expect(reader.heard.map(({ id, event }) => [id, event])).toEqual(
      told.map(({ id, type }) => [id, type]),
    );
  });

  it("begins with the newest, or behind the id that it is asked for", async () => {
    await transferred(database.db, 10);
    const server = await start();
    const [late, whole] = [reading(server), reading(server, "?after=0-0")];
    await Promise.all([late.connect(), whole.connect()]);
    await late.until(({ lastId }) => lastId !== "");

    await transferred(database.db, 3);
    await late.until(({ heard }) => heard.length >= 3);
    const told = (await pages(server, "0-0")).map(({ id }) => id);
    await whole.until(({ heard }) => heard.length >= told.length);

    expect(idsOf(late)).toEqual(told.slice(-3));
    expect(idsOf(whole)).toEqual(told);
  });

  it("is not held back by compression, and says so to proxies", async () => {
    const server = await start();
    const reader = openReader({
      url: () => server.stream(),
      headers: { "accept-encoding": "gzip, br" },
    });
    readers.push(reader);
    const { headers, statusCode } = await reader.connect();
    await reader.until(({ lastId }) => lastId !== "");
    await transferred(database.db, 1);
    await reader.until(({ heard }) => heard.length === 1);

    expect(statusCode).toBe(200);
    expect(headers).toMatchObject({
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-cache, no-transform",
      "x-accel-buffering": "no",
    });
    expect(headers).not.toHaveProperty("content-encoding");
  });

  it("tells nothing that the projections have not folded", async () => {
    const server = await start();
    const reader = reading(server);
    await reader.connect();
    await reader.until(({ lastId }) => lastId !== "");
    await appendEvents(database.db, transfers(5));
    await sql`
      update engine.checkpoint set position = (select position - 2 from log.head)
      where projection = ${schemaOf("sales")}`.execute(database.db);
    await sql`
      update engine.checkpoint set position = (select position from log.head)
      where projection <> ${schemaOf("sales")}`.execute(database.db);
    await reader.until(({ heard }) => heard.length === 3);
    await delay(100);
    expect(reader.heard).toHaveLength(3);
    expect((await pages(server, idsOf(reader).at(-1) ?? "")).length).toBe(0);

    await catchUp(database.db);
    await reader.until(({ heard }) => heard.length === 5);
  });

  it("sends to who filters what the whole holds of it", async () => {
    const server = await start();
    const filters = [
      `?type=mint,burn`,
      `?type=transfer`,
      `?collection=${addressOf(1)}`,
      `?wallet=${addressOf(12)}`,
      `?type=transfer&collection=${addressOf(2).toUpperCase().replace("0X", "0x")}&wallet=${addressOf(11)}`,
    ];
    const [whole, ...filtered] = ["", ...filters].map((query) => reading(server, query));
    const all = [whole, ...filtered].filter((one) => one !== undefined);
    await Promise.all(all.map((reader) => reader.connect()));
    await Promise.all(all.map((reader) => reader.until(({ lastId }) => lastId !== "")));
    const begin = whole?.lastId ?? "";
    for (let step = 0; step < 5; step += 1) await transferred(database.db, 40);

    for (const [index, reader] of filtered.entries()) {
      const query = filters[index]?.replace("?", "&");
      const told = (await pages(server, begin, query)).map(({ id }) => id);
      await reader.until(({ heard }) => heard.length >= told.length);
      expect(idsOf(reader)).toEqual(told);
    }
  });

  it("beats while nothing happens, and moves the place of who hears nothing", async () => {
    const server = await start({ heartbeatMs: 100 });
    const reader = reading(server, `?wallet=${addressOf(99)}`);
    await reader.connect();
    await reader.until(({ lastId }) => lastId !== "");
    const begin = reader.lastId;
    await transferred(database.db, 5);
    await reader.until(({ lastId }) => lastId !== begin);

    const { rows } = await sql<{ position: bigint }>`select position from log.head`.execute(
      database.db,
    );
    expect(reader.lastId).toBe(`${(rows[0]?.position ?? 0n) + 1n}-0`);
    expect(reader.heartbeats).toBeGreaterThan(0);
    expect(reader.heard).toEqual([]);
  });
});

describe("a stream that is refused", () => {
  it.each([
    ["?type=theft", "invalid_parameters"],
    ["?collection=punks", "invalid_parameters"],
    ["?wallet=0x1", "invalid_parameters"],
    ["?after=yesterday", "invalid_cursor"],
    ["?after=999999999999999-0", "invalid_cursor"],
  ])("answers 422 to %s: %s", async (query, code) => {
    const server = await start();
    const response = await fetch(server.stream(query));

    expect(response.status).toBe(422);
    expect(await response.json()).toMatchObject({ success: false, code });
  });

  it.each([
    ["words without end", `?type=${"a,".repeat(7_000)}a`],
    ["as many words as it may have", `?type=${"a,".repeat(499)}a`],
    ["many words of several parameters", `?${"type=a,&".repeat(900)}type=a`],
  ])("is refused in few words, however many faults it has: %s", async (_, query) => {
    const server = await start();
    const response = await fetch(server.stream(query));
    const text = await response.text();

    expect(response.status).toBe(422);
    expect(JSON.parse(text)).toMatchObject({ success: false, code: "invalid_parameters" });
    expect(text.length).toBeLessThan(8_192);
  });

  it("answers 503 with the time to wait where all places are taken, until one is free", async () => {
    const server = await start({ maxSubscribers: 2 });
    const [one, other] = [reading(server), reading(server)];
    await Promise.all([one.connect(), other.connect()]);

    const response = await fetch(server.stream());
    expect(response.status).toBe(503);
    expect(Number(response.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(await response.json()).toMatchObject({ code: "too_many_streams" });

    one.leave();
    await expect.poll(() => server.feed.figures().readers).toBe(1);
    expect((await reading(server).connect()).statusCode).toBe(200);
  });
});

describe("a reader that does not read", () => {
  it("is cut, while others hear everything and memory stays bounded", async () => {
    const server = await start({ unsentBytes: 64 * 1024, bufferBytes: 256 * 1024 });
    const { port, hostname } = new URL(server.url);
    const sockets = Array.from({ length: 5 }, () => connect(Number(port), hostname));
    const closed = sockets.map((socket) => once(socket, "close"));
    for (const socket of sockets) {
      socket.on("error", () => undefined);
      socket.write("GET /stream HTTP/1.1\r\nHost: here\r\n\r\n");
      await once(socket, "readable");
    }
    const reader = reading(server);
    await reader.connect();
    await reader.until(({ lastId }) => lastId !== "");
    const begin = reader.lastId;
    const before = process.memoryUsage().arrayBuffers;

    let appended = 0;
    while (server.feed.figures().cut < sockets.length) {
      await transferred(database.db, 500);
      appended += 500;
      await reader.until(({ heard }) => heard.length >= appended);
    }
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(64 * 2 ** 20);
    for (const socket of sockets) socket.resume();
    await Promise.all(closed);
    expect(idsOf(reader)).toEqual((await pages(server, begin)).map(({ id }) => id));
    expect(server.feed.figures().readers).toBe(1);
  });

  it("is cut after a time where it leaves a little unread", async () => {
    const server = await start({ stalledMs: 200, heartbeatMs: 100, unsentBytes: 2 ** 30 });
    const { port, hostname } = new URL(server.url);
    const socket = connect(Number(port), hostname);
    socket.on("error", () => undefined);
    socket.write("GET /stream HTTP/1.1\r\nHost: here\r\n\r\n");
    await once(socket, "readable");

    while (server.feed.figures().cut === 0) await transferred(database.db, 500);
    expect(server.feed.figures().cut).toBe(1);
    socket.destroy();
  });
});

describe("a stream that is old", () => {
  it("ends in order, so that its reader shows its token again", async () => {
    const server = await start({ maxAgeMs: 200, heartbeatMs: 100 });
    const reader = reading(server);
    const response = await reader.connect();
    await once(response, "end");

    expect(response.complete).toBe(true);
    expect(reader.lastId).not.toBe("");
    expect(server.feed.figures().cut).toBe(0);
  });
});

describe("a server that stops", () => {
  it("ends its streams in order", async () => {
    const server = await start();
    const reader = reading(server);
    const response = await reader.connect();
    const ended = once(response, "end");
    await server.feed.stop();

    await ended;
    expect(response.complete).toBe(true);
    expect((await fetch(server.stream())).status).toBe(503);
  });
});
