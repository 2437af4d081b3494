import { pino } from "pino";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createApp } from "#api/app.ts";
import { type Listening, listen } from "#api/http/server.ts";
import type { ServiceStatus } from "#api/status/service-status.ts";
import { allProjections } from "#projections/all.ts";
import { createProjection } from "#test/support/database/given.ts";
import { createDatabase, type TestDatabase } from "#test/support/database/postgres.ts";
import { openTestMarket, testFee } from "#test/support/orders/test-market.ts";

const chainId = 33139;
const baseUrl = "https://market.example.test";
const block = { number: 1_000, hash: `0x${"1".repeat(64)}`, timestamp: 1 };

const current: ServiceStatus = {
  ready: true,
  failing: [],
  warnings: [],
  logPosition: 90_000,
  chains: [
    {
      chainId,
      head: block,
      indexed: block,
      recorded: { number: 990, hash: block.hash },
      finalized: { number: 900, saidBy: "tag" },
      lagBlocks: 0,
      lagSeconds: 0,
      history: null,
      indexers: [],
    },
  ],
  projections: [{ name: "sales", version: 1, position: 90_000, lag: 0, lagSeconds: 0 }],
};

let status = current;
let database: TestDatabase;
let listening: Listening;

beforeAll(async () => {
  database = await createDatabase();
  const { db } = database;
  for (const projection of allProjections({ feeRecipient: testFee.recipient }))
    await createProjection(db, projection);
  const context = {
    ...{ db, siteUrl: baseUrl, chains: [chainId] as const, market: openTestMarket(db) },
    readStatus: async () => status,
    now: () => new Date(),
  };
  const app = createApp({ context, baseUrl, logger: pino({ level: "silent" }) });
  listening = await listen(app, "127.0.0.1", 0);
});
afterAll(async () => {
  await listening?.close();
  await database?.drop();
});

/** The state of an installation, and what its market page says of it. */
const states: readonly (readonly [state: string, status: Partial<ServiceStatus>, says: RegExp])[] =
  [
    ["nothing is recorded yet", { logPosition: 0, chains: [] }, /being read for the first time/],
    [
      "the indexer does not run",
      { chains: current.chains.map((chain) => ({ ...chain, indexed: null })) },
      /not being read now.*up to block 990/s,
    ],
    [
      "blocks are missing",
      { chains: current.chains.map((chain) => ({ ...chain, lagBlocks: 12_345 })) },
      /catching up: 12,345 blocks to go/,
    ],
    [
      "figures are missing",
      { projections: current.projections.map((one) => ({ ...one, lag: 45_678 })) },
      /being derived: 45,678 events to go/,
    ],
  ];

it.each(states)("says of an installation that %s", async (_state, difference, says) => {
  status = { ...current, ...difference };
  const { code, html } = await openMarket();
  expect(code).toBe(200);
  expect(html).toMatch(says);
});

it("says of an empty market only that it is empty", async () => {
  status = current;
  const { code, html } = await openMarket();
  expect(code).toBe(200);
  expect(html).toContain("No collection is known yet.");
  expect(html).not.toContain('class="notice"');
});

async function openMarket(): Promise<{ code: number; html: string }> {
  const response = await fetch(`http://127.0.0.1:${listening.port}/`);
  return { code: response.status, html: await response.text() };
}
