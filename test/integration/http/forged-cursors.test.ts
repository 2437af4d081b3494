import { pino } from "pino";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createApp } from "#api/app.ts";
import { type CursorScope, encodeCursor } from "#api/http/page.ts";
import { type Listening, listen } from "#api/http/server.ts";
import { snapshotIdOf, storeSnapshot } from "#api/v1/snapshots/stored-snapshots.ts";
import { tokenSorts } from "#projections/tokens/read-token-filter.ts";
import { addressOf } from "#test/support/database/given.ts";
import { createDatabase, type TestDatabase } from "#test/support/database/postgres.ts";
import { seedRows, today } from "#test/support/http/api-rows.ts";
import { openTestMarket } from "#test/support/orders/test-market.ts";

// A cursor's checksum has no secret: whoever reads our source makes cursors of any key.

let database: TestDatabase;
let listening: Listening;

beforeAll(async () => {
  database = await createDatabase({ template: "projected" });
  await seedRows(database.db);
  await storeSnapshot(database.db, {
    terms: { ...snapshotTerms, contracts: [], excluded: [] },
    claims: [{ owner: wallet, units: 1n }],
    ...{ hash: null, time: null, accountId: 1 },
  });
  const context = {
    db: database.db,
    siteUrl: "https://site.example.test",
    chains: [1] as const,
    market: openTestMarket(database.db),
    readStatus: async () => {
      throw new Error("not read here");
    },
    now: () => today,
  };
  const app = createApp({ context, baseUrl: "http://api.test", logger: pino({ level: "silent" }) });
  listening = await listen(app, "127.0.0.1", 0);
});
afterAll(async () => {
  await listening?.close();
  await database?.drop();
});

type List = { path: string; scope: CursorScope; digits: readonly number[] };

const chainId = 1;
const wallet = addressOf(50);
const orders = { chainId, contractIds: null, tokenId: null, maker: null, status: "active" };
const listings = { ...orders, list: "listings", marketplace: null };
const prices = { minPriceWei: null, maxPriceWei: null };
const tokens = { list: "tokens", chainId, owner: null, listed: null, tokenIds: null };
const trade = {
  buyer: null,
  seller: null,
  wallet: null,
  marketplace: null,
  protocol: null,
  currency: null,
};
const snapshotTerms = { chainId, name: "forged", block: 1n, minUnits: 1n } as const;
const snapshotId = snapshotIdOf({ ...snapshotTerms, contracts: [], excluded: [] });
const anyTime = { since: null, until: null };

/** Digits are those of the key's parts, in order. */
const lists: List[] = [
  ...["created_at", "price_asc"].flatMap((sort) => [
    {
      path: `/v1/listings?sort=${sort}`,
      scope: { ...listings, ...prices, sort },
      digits: [78, 18],
    },
    {
      path: `/v1/bids?sort=${sort}`,
      scope: { ...orders, list: "bids", kind: null, sort },
      digits: [78, 18],
    },
  ]),
  ...["volume", "floor", "change"].map((sort) => ({
    path: `/v1/collections?sort=${sort}`,
    scope: {
      ...{ list: "collections", chainId, search: null, verified: null },
      ...{ sort, direction: "desc", period: "24h", excludesWash: false },
    },
    digits: [100, 9],
  })),
  ...tokenSorts.map((sort) => ({
    path: `/v1/collections/punks/tokens?sort=${sort}`,
    scope: { ...tokens, sort, contractIds: "1" },
    digits: [1, 78, 78, 9, 4],
  })),
  {
    path: "/v1/collections/punks/holders?",
    scope: { list: "holders", chainId, contractIds: "1" },
    digits: [80, 49],
  },
  {
    path: "/v1/collections/punks/tokens/0/holders?",
    scope: { list: "token holders", chainId, contractId: 1, tokenId: 0 },
    digits: [49],
  },
  {
    path: `/v1/wallets/${wallet}/tokens?`,
    scope: { list: "wallet tokens", chainId, wallet, contractIds: null },
    digits: [9, 78, 4],
  },
  {
    path: `/v1/wallets/${wallet}/offers?`,
    scope: { list: "wallet offers", chainId, wallet, contractIds: null },
    digits: [78, 9, 78, 4],
  },
  {
    path: `/v1/wallets/${wallet}/exposure?`,
    scope: { list: "exposure", chainId, maker: wallet },
    digits: [1, 18, 18],
  },
  {
    path: "/v1/sales?",
    scope: {
      ...{ list: "sales", chainId, tokenId: null, contractIds: null, traits: "[]" },
      ...trade,
      ...anyTime,
    },
    digits: [18, 9, 9],
  },
  {
    path: "/v1/activity?",
    scope: {
      ...{ list: "activity", chainId, wallet: null, types: null, contractIds: null, since: null },
      tokenId: null,
    },
    digits: [18, 9, 9, 18],
  },
  {
    path: `/v1/snapshots/${snapshotId}/holders?`,
    scope: { list: "snapshot holders", snapshotId },
    digits: [9],
  },
];

const most = (digits: number) => "9".repeat(digits);

it.each(lists)("a forged cursor of $path is an answer or a refusal", async (list) => {
  const { path, scope, digits } = list;
  const ask = async (key: readonly string[]) => {
    const cursor = encodeCursor(scope, key);
    const text = `${path}&chainId=${chainId}&cursor=${cursor}`;
    return (await fetch(`http://127.0.0.1:${listening.port}${text}`)).status;
  };
  const plain = digits.map(() => "1");
  expect(await ask(plain), "the scope is the list's own").toBe(200);
  for (const first of ["0", "1"]) {
    for (const part of digits.keys()) {
      const highest = most(digits[part] ?? 1);
      for (const value of [highest, `-${highest}`, "-1", "0", most(10), `${highest}9`]) {
        const key = plain.with(0, first).with(part, value);
        expect([200, 422], `part ${part} is ${value} after ${first}`).toContain(await ask(key));
      }
    }
  }
  for (const sign of ["", "-"])
    expect([200, 422]).toContain(await ask(digits.map((count) => sign + most(count))));
});

it.each([
  ["types", null, ["\0"]],
  ["types", null, ["x".repeat(2_000)]],
  ["values", "fur", ["1", "\0", "00000000-0000-0000-0000-000000000000"]],
  ["values", "fur", [most(79), "x".repeat(2_000), "00000000-0000-0000-0000-000000000000"]],
])("a forged cursor of %s of traits is an answer or a refusal", async (_, type, key) => {
  const scope = { list: "traits", ids: "1", typeKey: type };
  const more = type === null ? "" : `&type=${type}`;
  const ask = async (cursor: readonly string[]) => {
    const path = `/v1/collections/punks/traits?chainId=${chainId}&cursor=${encodeCursor(scope, cursor)}`;
    return (await fetch(`http://127.0.0.1:${listening.port}${path}${more}`)).status;
  };
  expect([200, 404, 422]).toContain(await ask(key));
});

it.each([
  "since=0000-01-01T00:00:00Z",
  "until=9999-12-31T23:59:59-01:00",
  "since=0001-01-01T00:00:00%2B01:00",
])("a time of a year that the database does not write is refused: %s", async (query) => {
  const path = `/v1/sales?chainId=${chainId}&${query}`;
  expect((await fetch(`http://127.0.0.1:${listening.port}${path}`)).status).toBe(422);
});
