import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createApp } from "#api/app.ts";
import { answerFeed } from "#api/feed/answer-feed.ts";
import { frameSnakeCase } from "#api/feed/event.ts";
import { type Feed, openFeed } from "#api/feed/open-feed.ts";
import { reject } from "#projections/domain/rejection.ts";
import { createDatabase, type TestDatabase } from "#test/support/database/postgres.ts";
import { type ApiClient, serve } from "#test/support/http/openapi.ts";
import { testFee } from "#test/support/orders/test-market.ts";
import { openReader } from "./feed-reader.ts";
import { baseUrl, contextOver, logger, makeCheckpoints, transferred } from "./feed-stage.ts";

let database: TestDatabase;
let feed: Feed;
let api: ApiClient;

/** One token is an account's. */
const tokens = {
  issue: async () => reject("invalid_credentials", "nobody logs in here"),
  check: async (token: string) => (token === "good" ? { id: 1, accountId: 1 } : null),
};

beforeAll(async () => {
  database = await createDatabase();
  const { db } = database;
  await makeCheckpoints(db);
  feed = openFeed({
    source: { db, chainIds: [33139], feeRecipient: testFee.recipient },
    frame: frameSnakeCase,
    logger,
  });
  const { siteUrl, now, market } = contextOver(db);
  const { prefix, isPaused } = market;
  const context = { db, siteUrl, now, prefix, isPaused, chainId: 33139, tokens } as const;
  const nftData = { context, segment: "apechain", perMinute: 0, stream: answerFeed(feed) };
  api = await serve(createApp({ context: contextOver(db), baseUrl, logger, nftData, feed }));
});
afterAll(async () => {
  await feed.stop();
  await api.close();
  await database.drop();
});

const url = () => `${api.url}/apechain/api/activity/stream`;

describe("GET /api/activity/stream", () => {
  it("streams to who has a token", async () => {
    const reader = openReader({ url, headers: { authorization: "Bearer good" } });
    const { statusCode, headers } = await reader.connect();
    await reader.until(({ lastId }) => lastId !== "");
    const metrics = await (await fetch(`${api.url}/metrics`)).text();
    await transferred(database.db, 3);
    await reader.until(({ heard }) => heard.length === 3);
    reader.leave();

    expect(metrics).toMatch(/^feed_readers 1$/m);
    expect(metrics).toMatch(/^feed_readers_cut_total 0$/m);
    expect(statusCode).toBe(200);
    expect(headers["access-control-allow-origin"]).toBe("*");
    expect(headers).not.toHaveProperty("content-encoding");
  });

  it.each([undefined, "Bearer bad"])("answers 401 to %s", async (authorization) => {
    const response = await fetch(url(), authorization ? { headers: { authorization } } : {});
    expect(response.status).toBe(401);
    expect(await response.json()).toMatchObject({ success: false });
  });

  it("answers a HEAD request with the head alone", async () => {
    const response = await fetch(url(), {
      method: "HEAD",
      headers: { authorization: "Bearer good" },
    });
    expect(response.status).toBe(200);
    expect(await response.text()).toBe("");
    expect(feed.figures().readers).toBe(0);
  });
});
