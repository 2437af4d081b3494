import type { BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import { type Hex, parseEther } from "viem";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { z } from "zod";
import { contracts } from "#devnet/contracts/addresses.ts";
import { block, setBlocks } from "../support/database/given.ts";
import {
  findBarriers,
  keepPicture,
  openPage,
  overflowOf,
  startBrowser,
  type TestBrowser,
} from "../support/http/browser.ts";
import {
  cutParts,
  keyboardFaults,
  movingParts,
  scrolledParts,
} from "../support/http/page-checks.ts";
import { openServedMarket, type ServedMarket } from "../support/http/served-market.ts";
import { chainId } from "../support/http/served-market-data.ts";
import { sitePagesOf } from "../support/http/site-pages.ts";
import { seedsOf } from "../support/thoroughness.ts";
import { describeExposure } from "./site/exposure.ts";
import { describeHostile, withoutMedia } from "./site/hostile.ts";
import { describeStreams } from "./site/live.ts";

let market: ServedMarket;
let testBrowser: TestBrowser;

beforeAll(async () => {
  market = await openServedMarket({ hasPages: true });
  testBrowser = await startBrowser();
});
afterAll(async () => {
  await testBrowser?.close();
  await market?.close();
});

async function openContext(options: BrowserContextOptions = {}): Promise<BrowserContext> {
  const context = await testBrowser.browser.newContext({
    viewport: { width: 1280, height: 844 },
    colorScheme: "light",
    ...options,
  });
  await context.route(/^https:/, (route) => route.fulfill({ status: 404, body: "" }));
  return context;
}

/** 640 is 1,280 at 200 %. */
const widths = [360, 640, 768, 1600];

/** Pages that `npm test` tries in every look, one of each kind. `npm run test:scale` tries all. */
const kinds = ["market", "items", "prices", "token", "listing", "wallet", "transaction", "search"];

const lookedAt = () =>
  Object.entries(sitePagesOf(market)).filter(
    ([name]) => inject("isThorough") || kinds.includes(name),
  );

async function checkWidths(page: Page, name: string): Promise<void> {
  for (const width of seedsOf(widths)) {
    await page.setViewportSize({ width, height: 844 });
    expect.soft(await overflowOf(page), `${name} at ${width}`).toBeLessThanOrEqual(0);
    expect.soft(await cutParts(page), `${name} at ${width}`).toEqual([]);
  }
}

describe("the market's pages in a browser", () => {
  it("can be used by everybody, at any width, light and dark, and keep their policy", async () => {
    const context = await openContext();
    const { page, complaints } = await openPage(context);
    for (const [name, path] of Object.entries(sitePagesOf(market))) {
      await page.setViewportSize({ width: 1280, height: 844 });
      await page.emulateMedia({ colorScheme: "light", reducedMotion: "reduce" });
      const response = await page.goto(market.v1.url + path);
      expect.soft(response?.status(), name).toBe(200);
      expect.soft(await findBarriers(page), `${name}, light`).toEqual([]);
      expect.soft(await movingParts(page), name).toEqual([]);
      await keepPicture(page, `site-${name}-wide`);
      await checkWidths(page, name);
      if (!lookedAt().some(([other]) => other === name)) continue;
      await page.setViewportSize({ width: 1280, height: 844 });
      await page.emulateMedia({ colorScheme: "dark" });
      expect.soft(await findBarriers(page, ["color-contrast"]), `${name}, dark`).toEqual([]);
      await keepPicture(page, `site-${name}-wide-dark`);
      await page.evaluate("document.documentElement.style.fontSize = '200%'");
      expect.soft(await overflowOf(page), `${name}, text twice as large`).toBeLessThanOrEqual(0);
      await page.evaluate("document.documentElement.style.fontSize = ''");
    }
    await context.close();
    expect(withoutMedia(complaints)).toEqual([]);
  });

  it("can be used by everybody on a phone, in the dark, where scripts do nothing", async () => {
    const context = await openContext({
      viewport: { width: 360, height: 844 },
      colorScheme: "dark",
    });
    await context.route(/\/assets\/site\/\w+(-\w+)?\.js$/, (route) =>
      route.fulfill({ contentType: "text/javascript", body: "" }),
    );
    const { page, complaints } = await openPage(context);
    for (const [name, path] of lookedAt()) {
      await page.goto(market.v1.url + path);
      expect.soft(await findBarriers(page), name).toEqual([]);
      await keepPicture(page, `site-${name}-narrow-dark`);
    }
    await context.close();
    expect(withoutMedia(complaints)).toEqual([]);
  });

  it.each([320, 390])(
    "show everything on a phone, and all of it can be touched: %i px",
    async (width) => {
      const context = await openContext({ viewport: { width, height: 844 }, hasTouch: true });
      const { page, complaints } = await openPage(context);
      for (const [name, path] of Object.entries(sitePagesOf(market))) {
        await page.goto(market.v1.url + path);
        expect.soft(await overflowOf(page), name).toBeLessThanOrEqual(0);
        expect.soft(await cutParts(page), name).toEqual([]);
        expect.soft(await scrolledParts(page), name).toEqual([]);
        expect.soft(await findBarriers(page, ["target-size"]), name).toEqual([]);
        await keepPicture(page, `site-${name}-${width}`);
      }
      await context.close();
      expect(withoutMedia(complaints)).toEqual([]);
    },
  );

  it("put filters of items into a sheet on a phone, several of which are one request", async () => {
    const context = await openContext({ viewport: { width: 390, height: 844 } });
    const { page } = await openPage(context);
    await page.goto(`${market.v1.url}/collections/punks?chainId=${chainId}`);
    const sheet = page.locator("#filters");
    expect(await sheet.isVisible()).toBe(false);
    const first = await page.locator(".card").first().boundingBox();
    expect(first?.y).toBeLessThan(844);
    await page.getByRole("button", { name: "Filter and sort" }).click();
    expect(await findBarriers(page)).toEqual([]);
    await page.getByLabel("Status").selectOption("true");
    await page.getByLabel("Sort").selectOption("price_desc");
    await keepPicture(page, "site-items-sheet");
    await page.getByRole("button", { name: "Apply" }).click();
    await page.getByRole("button", { name: "Filter and sort (1)" }).waitFor();
    const { searchParams } = new URL(page.url());
    expect([searchParams.get("listed"), searchParams.get("sort")]).toEqual(["true", "price_desc"]);
    await page.setViewportSize({ width: 1280, height: 844 });
    const [status, apply] = await Promise.all(
      [page.getByLabel("Status"), page.getByRole("button", { name: "Apply" })].map((one) =>
        one.boundingBox(),
      ),
    );
    // On a wide screen they are one line, with their names above.
    expect(apply?.y).toBe(status?.y);
    await context.close();
  });

  it.each(seedsOf(["items", "prices", "market", "token", "wallet-exposure"], 2))(
    "can be used by the keyboard alone: %s",
    async (name) => {
      const context = await openContext();
      const { page } = await openPage(context);
      await page.goto(market.v1.url + (sitePagesOf(market)[name] ?? ""));
      expect(await keyboardFaults(page)).toEqual([]);
      await context.close();
    },
  );
});

describe("without scripts", () => {
  it("a visitor finds a collection, narrows its items, and reads a chart as a table", async () => {
    const context = await testBrowser.browser.newContext({ javaScriptEnabled: false });
    const page = await context.newPage();
    await page.goto(`${market.v1.url}/?chainId=${chainId}`);
    await page.getByRole("searchbox").fill("pun");
    await page.getByRole("button", { name: "Search" }).click();
    await page.getByRole("table", { name: "Collections" }).getByRole("link").first().click();
    await page.getByLabel("Status").selectOption("true");
    await page.getByRole("button", { name: "Apply" }).click();
    const listed = await page.locator(".card").count();
    expect(new URL(page.url()).searchParams.get("listed")).toBe("true");
    expect(await page.locator(".card .price.quiet").count()).toBe(0);
    expect(listed).toBeGreaterThan(0);

    await page.getByRole("link", { name: "Prices and depth" }).click();
    await page.locator("#depth-chart summary").click();
    const rows = page
      .getByRole("table", { name: "Listings, lowest price first" })
      .locator("tbody tr");
    expect(await rows.count()).toBeGreaterThan(0);
    expect(await page.locator("#live").count()).toBe(0);
    await context.close();
  });

  it("no page is wider than its window, and none complains", async () => {
    const context = await openContext({ javaScriptEnabled: false });
    const { page, complaints } = await openPage(context);
    for (const [name, path] of lookedAt()) {
      await page.goto(market.v1.url + path);
      await checkWidths(page, name);
    }
    await context.close();
    expect(withoutMedia(complaints)).toEqual([]);
  });
});

describe("an open page", () => {
  it("shows a sale as it is projected, pauses, and takes a sale back that a reorg undid", async () => {
    const { actors, catchUp, client, db } = market.book;
    const nft = { standard: "erc721", contract: contracts.punks, tokenId: 3n } as const;
    const context = await openContext();
    const { page, complaints } = await openPage(context);
    await page.goto(
      `${market.v1.url}/collections/punks?chainId=${chainId}&view=activity&type=sale`,
    );
    await page.locator("#live[data-state=live]").waitFor();
    const before = await page.locator("#live-rows tr").count();

    await actors.bob.buys(await actors.alice.lists(nft, { priceWei: parseEther("4") }));
    await catchUp();
    market.feed.notify();
    const row = page.locator("#live-rows tr.arrives");
    await row.waitFor();
    expect(await page.locator("#live-rows tr").count()).toBe(before + 1);
    const sold = await newestSale();
    const key = `sale ${sold.saleId}`;
    expect(await row.getAttribute("data-key")).toBe(key);
    expect(await (await page.request.get(page.url())).text()).toContain(`data-key="${key}"`);
    expect(await row.locator("[data-column=price] data").getAttribute("value")).toBe(sold.priceWei);
    await page.locator("#live .count", { hasText: "1 new" }).waitFor();

    await page.getByRole("button", { name: "Pause" }).click();
    await page.locator("#live[data-state=paused]").waitFor();
    await client.request({ method: "anvil_reorg", params: [1, []] } as never);
    await setBlocks(db, "block_retracted", [{ ...block(chainId, 1), hash: sold.blockHash as Hex }]);
    await catchUp();
    expect(await page.locator("#live-rows tr.retracted").count()).toBe(0);
    await page.getByRole("button", { name: "Resume" }).click();
    await page.locator("#live-rows tr.retracted").waitFor();
    await page.locator("#live-rows tr.retracted").waitFor({ state: "detached" });
    await page.reload();
    expect(await page.locator("#live-rows tr").count()).toBe(before);
    expect(withoutMedia(complaints)).toEqual([]);
    await context.close();
  });

  describeStreams(
    () => market,
    () => testBrowser,
  );
});

const SaleRow = z.object({
  saleId: z.string(),
  priceWei: z.string(),
  blockHash: z.string(),
});

async function newestSale(): Promise<z.output<typeof SaleRow>> {
  const { body } = await market.v1.get(`/v1/sales?chainId=${chainId}&per_page=1`);
  const [sale] = z.object({ data: z.array(SaleRow) }).parse(body).data;
  if (sale === undefined) throw new Error("nothing was sold");
  return sale;
}

describeExposure(
  () => market,
  () => testBrowser,
);

describeHostile(
  () => market,
  () => testBrowser,
);
