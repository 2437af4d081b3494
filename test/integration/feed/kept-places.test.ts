import { pino } from "pino";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createApp } from "#api/app.ts";
import { type Feed, openFeed } from "#api/feed/open-feed.ts";
import { openLimiter } from "#api/keys/limiter.ts";
import { createInstantKey, createPermanentKey } from "#api/keys/stored-keys.ts";
import { createDatabase, type TestDatabase } from "#test/support/database/postgres.ts";
import { type ApiClient, serve } from "#test/support/http/openapi.ts";
import { testFee } from "#test/support/orders/test-market.ts";
import { baseUrl, contextOver, makeCheckpoints } from "./feed-stage.ts";

const logger = pino({ level: "silent" });
const maxSubscribers = 8;

let database: TestDatabase;
let feed: Feed;
let api: ApiClient;
const leaving = new AbortController();

beforeAll(async () => {
  database = await createDatabase();
  const { db } = database;
  await makeCheckpoints(db);
  const source = { db, chainIds: [33139], feeRecipient: testFee.recipient };
  feed = openFeed({ source, logger, limits: { maxSubscribers } });
  const limits = { keyless: 0, instant: 0, permanent: 0 };
  api = await serve(
    createApp({
      context: { ...contextOver(db), siteUrl: baseUrl },
      baseUrl,
      logger,
      limiter: openLimiter({ db, limits, logger, onUse: () => {}, deadlineMs: 20_000 }),
      feedOf: () => feed,
    }),
  );
});
afterAll(async () => {
  leaving.abort();
  await feed?.stop();
  await api?.close();
  await database?.drop();
});

/** Opens streams until one is refused. Returns how many are open then. */
async function openAll(path: string, headers: Record<string, string> = {}): Promise<number> {
  for (;;) {
    const response = await fetch(api.url + path, { headers, signal: leaving.signal });
    if (response.status !== 200) {
      expect(response.status).toBe(503);
      expect(await response.json()).toMatchObject({ code: "too_many_streams" });
      return feed.figures().readers;
    }
  }
}

it("strangers' streams leave half of a feed to keys, and a quarter to those that are not instant", async () => {
  const instant = await createInstantKey(database.db, "192.0.2.1", null);
  const { key } = await createPermanentKey(database.db, { name: "a program", perMinute: null });
  const withKey = (text: string) => ({ Accept: "text/event-stream", "X-API-Key": text });
  const path = "/v1/events?chainId=33139";

  expect(await openAll("/live?chainId=33139")).toBe(4);
  expect(await openAll(path, withKey("key" in instant ? instant.key : ""))).toBe(6);
  expect(await openAll("/live?chainId=33139")).toBe(6);
  expect(await openAll(path, withKey(key))).toBe(8);
});
