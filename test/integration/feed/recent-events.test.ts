import express from "express";
import { afterAll, beforeAll, expect, it } from "vitest";
import { answerFeed } from "#api/feed/answer-feed.ts";
import { type Feed, openFeed } from "#api/feed/open-feed.ts";
import { parseQuery } from "#api/http/query.ts";
import { type Listening, listen } from "#api/http/server.ts";
import { createDatabase, type TestDatabase } from "#test/support/database/postgres.ts";
import { testFee } from "#test/support/orders/test-market.ts";
import { openReader } from "./feed-reader.ts";
import { logger, makeCheckpoints, transferred } from "./feed-stage.ts";

const mostBehind = 5n;

let database: TestDatabase;
let feed: Feed;
let api: Listening;

beforeAll(async () => {
  database = await createDatabase();
  await makeCheckpoints(database.db);
  const source = { db: database.db, chainIds: [33139], feeRecipient: testFee.recipient };
  feed = openFeed({ source, logger, limits: { bufferBytes: 1 } });
  const app = express();
  app.set("query parser", parseQuery);
  app.get("/recent", answerFeed(feed, { mostBehind }));
  app.get("/all", answerFeed(feed));
  api = await listen(app, "127.0.0.1", 0);
});
afterAll(async () => {
  await feed?.stop();
  await api?.close();
  await database?.drop();
});

it("a stream that may be so far behind begins there, whatever it asks for", async () => {
  await transferred(database.db, 12);
  await transferred(database.db, 8);
  const places = async (path: string, from: string) => {
    const reader = openReader({ url: () => `http://127.0.0.1:${api.port}${path}`, from });
    await reader.connect();
    await reader.until(({ heard }) => heard.some(({ id }) => id.startsWith("20-")));
    reader.leave();
    return reader.heard.map(({ id }) => Number(id.split("-")[0]));
  };
  expect(await places("/all", "0-0")).toHaveLength(20);
  expect(await places("/recent", "0-0")).toEqual([16, 17, 18, 19, 20]);
  expect(await places("/recent", "18-1")).toEqual([19, 20]);
});
