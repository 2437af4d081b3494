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
  auditFaults,
  cutParts,
  keyboardFaults,
  movingParts,
  phoneFaults,
} from "../support/http/page-checks.ts";
import { openServedMarket, type ServedMarket } from "../support/http/served-market.ts";
import { chainId } from "../support/http/served-market-data.ts";
import { sitePagesOf } from "../support/http/site-pages.ts";
import { seedsOf } from "../support/thoroughness.ts";
import { describeAllChains } from "./site/all-chains.ts";
import { describeExposure } from "./site/exposure.ts";
import { describeHostile, withoutMedia } from "./site/hostile.ts";
import { describeStreams } from "./site/live.ts";
import { describeSuggestions } from "./site/suggestions.ts";

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
      expect.soft(await auditFaults(page), name).toEqual([]);
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

  it("show everything on a phone, and all of it can be touched and used", async () => {
    const context = await openContext({ viewport: { width: 320, height: 844 }, hasTouch: true });
    const { page, complaints } = await openPage(context);
    for (const [name, path] of Object.entries(sitePagesOf(market))) {
      await page.goto(market.v1.url + path);
      expect.soft(await phoneFaults(page, `site-${name}`)).toEqual([]);
    }
    await context.close();
    expect(withoutMedia(complaints)).toEqual([]);
  });

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

  it("a visitor chooses several values of a trait, by links with their counts", async () => {
    const context = await testBrowser.browser.newContext({ javaScriptEnabled: false });
    const page = await context.newPage();
    await page.goto(`${market.v1.url}/collections/punks?chainId=${chainId}`);
    const menu = page.locator(".trait-menu");
    const totalOf = async () =>
      Number.parseInt((await page.locator(".found > .about").first().textContent()) ?? "", 10);
    await menu.getByText("Fur").click();
    const countOf = async (value: string) =>
      Number(await menu.locator("li", { hasText: value }).locator(".quiet").textContent());
    const [gold, brown] = [await countOf("Gold"), await countOf("Brown")];
    await menu.getByRole("link", { name: "Gold" }).click();
    expect(await totalOf()).toBe(gold);
    await menu.getByRole("link", { name: "Brown" }).click();
    expect(await totalOf()).toBe(gold + brown);
    expect(await page.locator(".chip").count()).toBe(2);
    await menu.getByRole("link", { name: "Gold" }).click();
    expect(await totalOf()).toBe(brown);
    await context.close();
  });

  it("a visitor looks at the book as it was, hour by hour", async () => {
    const context = await testBrowser.browser.newContext({ javaScriptEnabled: false });
    const page = await context.newPage();
    await page.goto(`${market.v1.url}/collections/punks?chainId=${chainId}&view=prices`);
    await page.getByText("As of now: see an earlier time").click();
    await page.getByLabel("or block").fill(`${market.ids.blockNumber}`);
    await page.getByRole("button", { name: "Show" }).click();
    const moment = page.getByRole("region", { name: "Moment that is shown" });
    expect(await moment.textContent()).toContain(`end of block ${market.ids.blockNumber}`);
    expect(await page.getByLabel("Time, UTC").inputValue()).not.toBe("");
    await moment.getByRole("link", { name: "00", exact: true }).click();
    expect(new URL(page.url()).searchParams.get("at")).toMatch(/T00:00:00Z$/);
    await page.getByRole("link", { name: "Back to now" }).click();
    expect(await page.locator("#floor-chart").count()).toBe(1);
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

describe("a chart", () => {
  const prices = `/collections/punks?chainId=${chainId}&view=prices`;

  it("shows what is nearest to the pointer beside it, and opens a sale", async () => {
    const context = await openContext();
    const { page } = await openPage(context);
    await page.goto(market.v1.url + prices);
    const drawing = page.locator("#floor-chart .drawing").first();
    await drawing.scrollIntoViewIfNeeded();
    const box = await drawing.locator("svg").first().boundingBox();
    const mark = drawing.locator("[data-level]").last();
    const [at, level] = [await mark.getAttribute("data-at"), await mark.getAttribute("data-level")];
    if (box === null) throw new Error("the chart is not drawn");
    const x = box.x + box.width * Number(at);
    const y = box.y + box.height * Number(level);
    await page.mouse.move(x, y);
    const reading = drawing.locator(".reading");
    expect(await reading.textContent()).toMatch(/^Sold \(UTC\) .* Token #\d+ .* Price /);
    const shown = await reading.boundingBox();
    expect(shown?.y).toBeGreaterThanOrEqual(box.y);
    expect((shown?.y ?? 0) + (shown?.height ?? 0)).toBeLessThan(box.y + box.height);
    await keepPicture(page, "site-chart-reading");
    await page.mouse.click(x, y);
    await page.waitForURL(/\/tokens\/\d+/);
    await context.close();
  });

  it("is read by arrow keys, the depth of the book too", async () => {
    const context = await openContext();
    const { page } = await openPage(context);
    await page.goto(market.v1.url + prices);
    const drawing = page.locator("#depth-chart .drawing");
    await drawing.focus();
    const reading = drawing.locator(".reading");
    const last = await reading.textContent();
    expect(last).toMatch(/^Price, ETH [\d.,]+ \u00b7 Listings \d+/);
    await page.keyboard.press("ArrowLeft");
    expect(await reading.textContent()).not.toBe(last);
    await context.close();
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

  it("tells a sale with its transfer in one row", async () => {
    const { actors, catchUp } = market.book;
    const punk = (tokenId: bigint) =>
      ({ standard: "erc721", contract: contracts.punks, tokenId }) as const;
    const context = await openContext();
    const { page } = await openPage(context);
    await page.goto(`${market.v1.url}/collections/punks?chainId=${chainId}&view=activity`);
    await page.locator("#live[data-state=live]").waitFor();
    await actors.bob.buys(await actors.alice.lists(punk(6n), { priceWei: parseEther("4") }));
    await catchUp();
    market.feed.notify();
    await page.locator("#live-rows tr.arrives[data-key^=sale]").waitFor();
    // What comes after it: the transfer was received before.
    await actors.alice.mints(punk(901n));
    await catchUp();
    market.feed.notify();
    await page.locator("#live-rows tr.arrives", { hasText: "mint" }).waitFor();
    const kinds = await page.locator("#live-rows tr.arrives .kind").allTextContents();
    expect(kinds.toSorted()).toEqual(["mint", "sale"]);
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

describeAllChains(() => testBrowser);

describeSuggestions(
  () => market,
  () => testBrowser,
);

describeExposure(
  () => market,
  () => testBrowser,
);

describeHostile(
  () => market,
  () => testBrowser,
);
