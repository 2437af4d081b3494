import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { createApp } from "#api/app.ts";
import { activityProjection } from "#projections/activity/activity.ts";
import { appendObservations } from "#projections/log/append.ts";
import { metadataProjection } from "#projections/metadata/metadata.ts";
import { listingsProjection } from "#projections/orders/listings.ts";
import { ownershipProjection } from "#projections/tokens/ownership.ts";
import { traitsProjection } from "#projections/traits/traits.ts";
import { addressOf, appendEvents, block } from "#test/support/database/given.ts";
import { type ApiClient, serve } from "#test/support/http/openapi.ts";
import { statsProjections } from "#test/support/market-data/stats-scenario.ts";
import { collectionsRegistered } from "#test/support/market-data/token-market.ts";
import { filled, givenListing, receivedAt } from "#test/support/orders/order-facts.ts";
import { openProjectedLog } from "#test/support/orders/projected-log.ts";
import { openTestMarket } from "#test/support/orders/test-market.ts";

const contract = addressOf(4_711);
const site = "https://site.example.test";

let book: Awaited<ReturnType<typeof openProjectedLog>>;
let api: ApiClient;

/** A contract of Ethereum that nobody registered, and a sale of its token 7. */
beforeAll(async () => {
  const read = {
    metadata: metadataProjection,
    ownership: ownershipProjection,
    listings: listingsProjection,
  };
  const traits = traitsProjection(read);
  book = await openProjectedLog([
    ...statsProjections,
    activityProjection,
    metadataProjection,
    traits,
  ]);
  await book.clear();
  const order = givenListing({ maker: addressOf(300), contract, tokenId: 7n });
  await appendEvents(book.db, [filled(order, 1n, { at: block(1, 100), log: 1 })]);
  await appendObservations(book.db, collectionsRegistered());
  await book.happens();
  const context = {
    db: book.db,
    siteUrl: site,
    chains: [1, 33139] as const,
    readStatus: () => Promise.reject(new Error("the status is not read here")),
    market: openTestMarket(book.db),
    now: () => new Date(Number(receivedAt) * 1000),
  };
  const logger = pino({ level: "silent" });
  api = await serve(createApp({ context, baseUrl: site, logger }));
});
afterAll(async () => {
  await api?.close();
  await book?.drop();
});

const Sales = z.object({
  data: z.array(z.looseObject({ saleId: z.string(), urls: z.record(z.string(), z.string()) })),
  meta: z.object({ total: z.number() }),
});

async function page(path: string) {
  const response = await fetch(api.url + path, { headers: { accept: "text/html" } });
  return { status: response.status, html: await response.text() };
}

describe("a sale of a contract that is not covered", () => {
  it("is found by the address that it shows, in any case, and by its token", async () => {
    for (const key of [contract, contract.toUpperCase().replace("0X", "0x")]) {
      const found = Sales.parse((await api.get(`/v1/sales?collection=${key}`)).body);
      expect([found.meta.total, found.data.length]).toEqual([1, 1]);
      const path = `/v1/sales?collection=${key}&token_id`;
      expect(Sales.parse((await api.get(`${path}=7`)).body).meta.total).toBe(1);
      expect(Sales.parse((await api.get(`${path}=8`)).body).meta.total).toBe(0);
    }
  });

  it("has links that open, and say what is not known", async () => {
    const { data } = Sales.parse((await api.get("/v1/sales")).body);
    const urls = Object.entries(data[0]?.urls ?? {});
    expect(urls.map(([name]) => name).toSorted()).toEqual(["collection", "sale", "token"]);
    for (const [name, url] of urls) {
      const { status, html } = await page(url.replace(site, ""));
      expect([name, status]).toEqual([name, 200]);
      expect(html).toContain(data[0]?.saleId ?? "");
      if (name !== "sale") expect(html).toContain("not covered");
    }
  });

  it.each([
    "/v1/listings?collection=",
    "/v1/bids?collection=",
    "/v1/collections/{}/tokens",
    "/v1/collections/{}/traits",
    "/v1/collections/{}/holders",
    "/v1/collections/{}/holders/distribution",
    "/v1/collections/{}/floor-history",
    "/v1/collections/{}/depth",
    "/v1/bids/best?tokenId=7&collection=",
    "/v1/activity?collection=",
    "/v1/collections/{}/tokens/7/activity",
  ])("leaves %s of its contract empty or with the sale, not unknown", async (path) => {
    const asked = path.includes("{}") ? path.replace("{}", contract) : path + contract;
    expect([asked, (await api.get(asked)).status]).toEqual([asked, 200]);
  });

  it("says of the contract and its token that only sales are known, and where", async () => {
    for (const path of [`/v1/collections/${contract}`, `/v1/collections/${contract}/tokens/7`]) {
      expect(await api.get(path)).toMatchObject({
        status: 404,
        body: { code: "not_found", message: expect.stringContaining("/v1/sales?chainId=1&coll") },
      });
    }
  });
});

describe("a contract without a sale", () => {
  it("is unknown everywhere", async () => {
    const other = addressOf(4_712);
    for (const path of [
      `/v1/sales?collection=${other}`,
      `/v1/listings?collection=${other}`,
      `/v1/collections/${other}/tokens`,
    ])
      expect((await api.get(path)).status).toBe(404);
    expect((await page(`/collections/${other}`)).status).toBe(404);
    expect((await page(`/collections/${other}/tokens/7`)).status).toBe(404);
  });
});
