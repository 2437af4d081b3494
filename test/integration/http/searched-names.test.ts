import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { pino } from "pino";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { createApp } from "#api/app.ts";
import { openLimiter } from "#api/keys/limiter.ts";
import { createDatabase, type TestDatabase } from "#test/support/database/postgres.ts";
import { from, newAddress } from "#test/support/http/limited-api.ts";
import { type ApiClient, serve } from "#test/support/http/openapi.ts";
import { openTestMarket } from "#test/support/orders/test-market.ts";

const baseUrl = "https://market.example.test";
const logger = pino({ level: "silent" });
const limits = { keyless: 3, instant: 60, permanent: 120 };

let database: TestDatabase;
let node: Server;
let api: ApiClient;
let calls = 0;

beforeAll(async () => {
  database = await createDatabase({ template: "projected" });
  const { db } = database;
  node = createServer((_request, response) => {
    calls += 1;
    response.writeHead(500).end();
  });
  await new Promise<void>((done) => node.listen(0, "127.0.0.1", done));
  const { port } = node.address() as AddressInfo;
  const market = openTestMarket(db, { 1: `http://127.0.0.1:${port}` });
  api = await serve(
    createApp({
      context: {
        ...{ db, siteUrl: baseUrl, chains: [1, 33139] as const, market },
        readStatus: () => Promise.reject(new Error("nobody asks for the status here")),
        now: () => new Date(),
      },
      limiter: openLimiter({ db, limits, logger, onUse: () => {}, deadlineMs: 20_000 }),
      trustProxy: ["127.0.0.1"],
      baseUrl,
      logger,
    }),
  );
});
afterAll(async () => {
  await api?.close();
  node?.closeAllConnections();
  node?.close();
  await database?.drop();
});
beforeEach(() => {
  calls = 0;
});

let names = 0;

/** Opens the search page for a name that nobody has asked for. */
async function search(address: string): Promise<{ status: number; asked: boolean }> {
  names += 1;
  const before = calls;
  const response = await fetch(`${api.url}/search?q=name${names}.eth`, { headers: from(address) });
  await response.arrayBuffer();
  return { status: response.status, asked: calls > before };
}

it("names that the search page asks Ethereum for count as requests without a key; beyond them it asks nothing", async () => {
  const address = newAddress();
  const answers: unknown[] = [];
  for (let time = 0; time < 5; time += 1) answers.push(await search(address));
  const asked = { status: 200, asked: true };
  const kept = { status: 200, asked: false };
  expect(answers).toEqual([asked, asked, asked, kept, kept]);
  expect((await api.get("/v1/collections", from(address))).status).toBe(429);
  expect(await search(newAddress())).toEqual(asked);
});

it("a search for anything else costs no request", async () => {
  const address = newAddress();
  for (let time = 0; time < 5; time += 1)
    await (await fetch(`${api.url}/search?q=punks`, { headers: from(address) })).arrayBuffer();
  const { headers } = await api.get("/v1/collections", from(address));
  expect([headers.get("x-ratelimit-remaining"), calls]).toEqual(["2", 0]);
});
