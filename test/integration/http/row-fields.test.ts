import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { readCollections } from "#projections/collections/read-collections.ts";
import { readListingPage } from "#projections/orders/read-listings.ts";
import { anyTrade } from "#projections/sales/read-sale-filter.ts";
import { readSales } from "#projections/sales/read-sales.ts";
import type { TokenParts } from "#projections/tokens/read-token-details.ts";
import { readTokens } from "#projections/tokens/read-tokens.ts";
import { plansOf } from "#test/support/database/plans.ts";
import { type NftDataFixture, openNftDataFixture } from "#test/support/http/nft-data-fixture.ts";
import { type ApiClient, documentedAt } from "#test/support/http/openapi.ts";
import { nfts } from "#test/support/market-data/token-market.ts";

let stage: NftDataFixture;
/** Validates answers: rows must have the fields that were asked for. */
let api: ApiClient;
beforeAll(async () => {
  stage = await openNftDataFixture();
  await stage.playMarket(11, 60);
  api = await documentedAt(stage.api.url, { base: "", path: "/v1/openapi.json" });
});
afterAll(() => stage?.close());

const { address } = nfts.punks;
const Row = z.record(z.string(), z.unknown());
const Page = z.object({
  data: z.array(Row),
  meta: z.looseObject({ next_cursor: z.string().nullable() }),
});

async function read(path: string, headers: Record<string, string> = {}) {
  const { status, body, ...answer } = await api.get(path, headers);
  expect([path, status]).toEqual([path, 200]);
  return { ...Page.parse(body), ...answer };
}

const lists = [
  "/v1/collections?chainId=1&per_page=2",
  `/v1/collections/${address}/tokens?chainId=1&per_page=3`,
  `/v1/collections/${address}/tokens?chainId=1&per_page=3&sort=rarity`,
  "/v1/sales?chainId=1&per_page=3",
  "/v1/listings?chainId=1&per_page=3",
  "/v1/bids?chainId=1&per_page=3",
  "/v1/activity?chainId=1&per_page=3",
];

const only = (row: Record<string, unknown>, names: readonly string[]) =>
  Object.fromEntries(Object.entries(row).filter(([name]) => names.includes(name)));

describe("fields of a list's rows", () => {
  it.each(lists)(
    "%s: any of them are those of whole rows, and the rest of the page stays",
    async (list) => {
      const whole = await read(list);
      const [first = {}] = whole.data;
      const names = Object.keys(first);
      expect(names.length).toBeGreaterThan(10);
      const sets = [...names.map((name) => [name]), names, names.filter((_, at) => at % 3 === 1)];
      for (const asked of sets) {
        const some = await read(`${list}&fields=${asked.join()}`);
        expect(some.data).toEqual(whole.data.map((row) => only(row, asked)));
        expect(some.meta).toEqual(whole.meta);
      }
    },
  );

  it("are those of a wallet's tokens and of a token's activity, too", async () => {
    const [token] = (await read(`${lists[1]}&listed=true`)).data;
    const wallet = `/v1/wallets/${token?.owner}/tokens?chainId=1`;
    const history = `/v1/collections/${address}/tokens/${token?.tokenId}/activity?chainId=1`;
    for (const [list, asked] of [
      [wallet, ["tokenId", "units", "lastSale"]],
      [history, ["type", "timestamp"]],
    ] as const) {
      const { data } = await read(list);
      expect(data.length).toBeGreaterThan(0);
      const some = await read(`${list}&fields=${asked.join()}`);
      expect(some.data).toEqual(data.map((row) => only(row, asked)));
    }
  });

  it("may change from page to page: a cursor is of the list, whatever is shown of it", async () => {
    const list = "/v1/activity?chainId=1&per_page=2";
    const first = await read(`${list}&fields=id`);
    expect(first.headers.get("link")).toContain("fields=id");
    const cursor = first.meta.next_cursor;
    const second = await read(`${list}&fields=id,price&cursor=${cursor}`);
    const whole = await read(`${list}&cursor=${cursor}`);
    expect(second.data).toEqual(whole.data.map((row) => only(row, ["id", "price"])));
  });

  it("are part of what an ETag stands for", async () => {
    const list = "/v1/listings?chainId=1";
    const tags = [list, `${list}&fields=askId`].map((path) => read(path));
    const [whole, some] = (await Promise.all(tags)).map(({ headers }) => headers.get("etag") ?? "");
    expect(some).not.toBe(whole);
    const ask = (tag: string) => api.get(`${list}&fields=askId`, { "if-none-match": tag });
    expect((await ask(some ?? "")).status).toBe(304);
    expect((await ask(whole ?? "")).status).toBe(200);
  });

  it.each(["nothing", "", "price,", "price,,usd", "Price", "__proto__", "price usd"])(
    "that are none are refused with those that are: %j",
    async (asked) => {
      const { status, body } = await api.get(`/v1/sales?chainId=1&fields=${asked}`);
      expect(status).toBe(422);
      expect(body).toMatchObject({
        code: "invalid_parameters",
        details: [{ field: "fields", message: expect.stringContaining("saleId, chainId,") }],
      });
    },
  );
});

describe("what only other fields need", () => {
  const slice = { limit: 10, offset: 0, after: null };
  const now = new Date();
  const filter = { chainId: 1, contractIds: null, tokenId: null };

  it("is not read of tokens", async () => {
    const contractIds = [1];
    const tokens = {
      ...{ collectionId: 1, contractIds, listed: null, tokenIds: null, owner: null, traitKeys: [] },
    };
    const planWith = (parts: TokenParts) =>
      plansOf(stage.db, (db) =>
        readTokens(db, { filter: tokens, sort: "token_id", slice, now, parts }),
      );
    const details = / on (sale s|token [mr])(_\d+)?\b/;
    expect(await planWith(new Set())).not.toMatch(details);
    const ofSales = await planWith(new Set(["lastSale"]));
    expect(ofSales).toMatch(/ on sale s(_\d+)?\b/);
    expect(ofSales).not.toMatch(/ on token [mr](_\d+)?\b/);
  });

  it("is not read of sales, listings and collections", async () => {
    const order = { ...filter, maker: null, status: "active" } as const;
    const listing = { ...order, marketplace: null, minPriceWei: null, maxPriceWei: null };
    const sales = { ...filter, traits: [], traitKeys: [], trade: anyTrade };
    const none = new Set<never>();
    const reads: [Parameters<typeof plansOf>[1], RegExp][] = [
      [(db) => readSales(db, sales, slice, none), / on (wash_trade|collection|coin_price|price)\b/],
      [
        (db) => readListingPage(db, listing, "price_asc", slice, now, none),
        / on (collection|price)\b/,
      ],
      [(db) => readCollections(db, [1], now, none), / on (royalty|contract md)\b/],
    ];
    for (const [read, tables] of reads) expect(await plansOf(stage.db, read)).not.toMatch(tables);
  });
});
