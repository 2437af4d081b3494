import { sql } from "kysely";
import { pino } from "pino";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createApp } from "#api/app.ts";
import { openPositionedReads, type WaitOutcome } from "#api/http/reads/positioned-reads.ts";
import { openTarget } from "#api/http/reads/target.ts";
import { projectionNames } from "#projections/all.ts";
import { addressOf, appendEvents, block, type ChainEvent } from "#test/support/database/given.ts";
import { createDatabase, type TestDatabase } from "#test/support/database/postgres.ts";
import { type ApiClient, serve } from "#test/support/http/openapi.ts";
import { openTestMarket } from "#test/support/orders/test-market.ts";

const baseUrl = "https://market.example.test";
/** Far beyond any log, and at the only position that is in this one. */
const beyond = { "X-Min-Position": "9".repeat(18) };
const inLog = { "X-Min-Position": "1" };

let database: TestDatabase;
let api: ApiClient;
let waits: WaitOutcome[] = [];
let lines: string[] = [];

beforeAll(async () => {
  database = await createDatabase({ template: "projected" });
  const { db } = database;
  const transfer: ChainEvent = {
    kind: "erc721_transfer",
    ...{ block: block(33139, 1), logIndex: 0, contract: addressOf(1) },
    ...{ tokenId: 1n, amount: 1n, from: addressOf(2), to: addressOf(3) },
  };
  // In the log, and no projector runs here.
  await appendEvents(db, [transfer]);
  api = await serve(
    createApp({
      context: {
        ...{ db, siteUrl: baseUrl, chains: [33139] as const, market: openTestMarket(db) },
        readStatus: () => Promise.reject(new Error("nobody asks for the status here")),
        now: () => new Date(),
      },
      reads: openPositionedReads({
        primary: openTarget({ db }, projectionNames),
        projections: projectionNames,
        onWait: (_ms, outcome) => void waits.push(outcome),
      }),
      baseUrl,
      logger: pino({ level: "info" }, { write: (line: string) => void lines.push(line) }),
    }),
  );
});
afterAll(async () => {
  await api?.close();
  await database?.drop();
});

const paths = [
  "/wallets/0x0000000000000000000000000000000000000001",
  "/v1/collections?chainId=33139",
  "/v1/sales?chainId=33139",
];

const get = async (path: string, headers: Record<string, string> = {}): Promise<number> => {
  const response = await fetch(api.url + path, { headers });
  await response.arrayBuffer();
  return response.status;
};

it.each(paths)("%s: a position beyond the log is refused without a wait", async (path) => {
  waits = [];
  expect(await get(path, beyond)).toBe(503);
  expect(waits).toEqual([]);
  expect(await get(path, inLog)).toBe(503);
  expect(waits).toEqual(["not_reached"]);
});

it("a POST with such a position is refused", async () => {
  const path = "/v1/listings/mkt-0x00/buy-data";
  const refused = await api.post(path, { chainId: 33139 }, beyond);
  expect(refused).toMatchObject({ status: 503, body: { code: "position_not_reached" } });
});

it("refusals for a caller's own position are no warning", async () => {
  lines = [];
  for (const path of paths) for (const position of [beyond, inLog]) await get(path, position);
  await get(`/collections/${"x".repeat(10_000)}`, beyond);
  expect(lines).toEqual([]);
});

it.each(["/collections/", "/v1/collections/"])("a path below %s is logged cut", async (path) => {
  lines = [];
  await sql`alter table engine.checkpoint rename to away`.execute(database.db);
  await get(`${path}${"x".repeat(10_000)}?chainId=33139`);
  await sql`alter table engine.away rename to checkpoint`.execute(database.db);
  expect(lines.length).toBeGreaterThan(0);
  for (const line of lines) expect(line).not.toContain("x".repeat(300));
});
