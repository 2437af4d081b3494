import { gzipSync } from "node:zlib";
import type { BrowserContext, Page } from "playwright-core";
import { type Hex, parseEther } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { contracts } from "../../devnet/contracts/addresses.ts";
import { appendObservations } from "../../projections/log/append.ts";
import { block, setBlocks } from "../support/database/given.ts";
import {
  findBarriers,
  keepPicture,
  openPage,
  overflowOf,
  startBrowser,
  type TestBrowser,
} from "../support/http/browser.ts";
import { attacks, hostileCollection } from "../support/http/hostile-tokens.ts";
import { openServedMarket, type ServedMarket } from "../support/http/served-market.ts";
import { chainId } from "../support/http/served-market-data.ts";
import { sitePagesOf } from "../support/http/site-pages.ts";

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

const looks = [
  ["wide", 1280, "light"],
  ["wide-dark", 1280, "dark"],
  ["narrow", 360, "light"],
  ["narrow-dark", 360, "dark"],
] as const;

async function lookAt(page: Page, name: string): Promise<void> {
  await keepPicture(page, name);
  expect.soft(await findBarriers(page), name).toEqual([]);
  expect.soft(await overflowOf(page), `${name} is wider than its window`).toBeLessThanOrEqual(0);
}

describe("the market's pages in a browser", () => {
  it.each(looks)(
    "can be used by everybody, and keep their policy: %s",
    async (look, width, colorScheme) => {
      const context = await testBrowser.browser.newContext({
        viewport: { width, height: 844 },
        colorScheme,
      });
      // The media of the fixture are on hosts that do not exist.
      await context.route(/^https:/, (route) => route.fulfill({ status: 404, body: "" }));
      const { page, complaints } = await openPage(context);
      for (const [name, path] of Object.entries(sitePagesOf(market))) {
        const response = await page.goto(market.v1.url + path);
        expect.soft(response?.status(), name).toBe(200);
        await lookAt(page, `site-${name}-${look}`);
      }
      await context.close();

      expect(complaints.filter((text) => !/status of 404/.test(text))).toEqual([]);
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
});

describe("an open page", () => {
  it("shows a sale as it is projected, pauses, and takes a sale back that a reorg undid", async () => {
    const { actors, catchUp, client, db } = market.book;
    const nft = { standard: "erc721", contract: contracts.punks, tokenId: 3n } as const;
    const context = await testBrowser.browser.newContext();
    await context.route(/^https:/, (route) => route.fulfill({ status: 404, body: "" }));
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
    expect(await row.getAttribute("data-key")).toBe(`${sold.txHash} ${sold.logIndex}`);
    expect(await row.locator("[data-column=price] data").getAttribute("value")).toBe(sold.priceWei);
    await page.locator("#live .state", { hasText: "1 new" }).waitFor();

    await page.getByRole("button", { name: "Pause" }).click();
    await page.locator("#live[data-state=paused]").waitFor();
    await client.request({ method: "anvil_reorg", params: [1, []] } as never);
    await setBlocks(db, "block_retracted", [{ ...block(chainId, 1), hash: sold.blockHash as Hex }]);
    await catchUp();
    expect(await page.locator("#live-rows tr.retracted").count()).toBe(0);
    await page.getByRole("button", { name: "Go on" }).click();
    await page.locator("#live-rows tr.retracted").waitFor();
    await page.locator("#live-rows tr.retracted").waitFor({ state: "detached" });
    await page.reload();
    expect(await page.locator("#live-rows tr").count()).toBe(before);
    expect(complaints.filter((text) => !/status of 404/.test(text))).toEqual([]);
    await context.close();
  });
});

const SaleRow = z.object({
  txHash: z.string(),
  logIndex: z.number(),
  priceWei: z.string(),
  blockHash: z.string(),
});

async function newestSale(): Promise<z.output<typeof SaleRow>> {
  const { body } = await market.v1.get(`/v1/sales?chainId=${chainId}&per_page=1`);
  const [sale] = z.object({ data: z.array(SaleRow) }).parse(body).data;
  if (sale === undefined) throw new Error("nothing was sold");
  return sale;
}

describe("a hostile collection", () => {
  const firstId = 5;
  const names = Object.keys(attacks);
  const requested: string[] = [];
  let context: BrowserContext;

  beforeAll(async () => {
    await appendObservations(market.book.db, hostileCollection(firstId));
    await market.book.catchUp();
    context = await testBrowser.browser.newContext({ viewport: { width: 360, height: 800 } });
    await context.route(/^(?!http:\/\/127\.0\.0\.1)/, (route) => {
      requested.push(`${route.request().resourceType()} ${route.request().url()}`);
      return route.fulfill({ status: 404, body: "" });
    });
  });
  afterAll(() => context?.close());

  it.each([
    ...names.map((name, index) => [
      name,
      `/collections/${contracts.punks}/tokens/${firstId + index}?chainId=${chainId}`,
    ]),
    ["all of them at once", `/collections/punks?chainId=${chainId}`],
    ["its name in the market", `/?chainId=${chainId}`],
    ["its traits", `/collections/punks?chainId=${chainId}&view=traits`],
    ["its name in a search", `/search?q=%3Cscript%3E&chainId=${chainId}`],
  ])("harms no page: %s", async (_name, path) => {
    const { page, complaints } = await openPage(context);
    page.on("dialog", (dialog) => complaints.push(`dialog ${dialog.message()}`));
    const response = await page.goto(market.v1.url + path);
    const html = (await response?.text()) ?? "";

    expect(response?.status()).toBe(200);
    expect(gzipSync(html).length).toBeLessThanOrEqual(30 * 1_024);
    expect(await page.evaluate(strangeParts)).toEqual([]);
    expect(await overflowOf(page)).toBeLessThanOrEqual(0);
    expect(complaints.filter((text) => !/status of 404/.test(text))).toEqual([]);
    expect(new URL(page.url()).pathname).toBe(new URL(market.v1.url + path).pathname);
    await page.close();
  });

  it("has nothing loaded but images and videos, from public https hosts", () => {
    const others = requested.filter(
      (one) => !/^(image|media) https:\/\/[a-z0-9.-]+\.[a-z]+\//.test(one),
    );
    expect(others).toEqual([]);
  });
});

/** What no page of ours has: run in the page. */
const strangeParts = `(() => {
  const found = window.attacked === undefined ? [] : ["a script of theirs ran"];
  const add = (what, all) => { if (all.length > 0) found.push(what + " " + all[0].outerHTML.slice(0, 200)); };
  const all = [...document.querySelectorAll("*")];
  add("script", [...document.scripts].filter(({ src }) => !src.startsWith(location.origin + "/assets/site/")));
  add("handler", all.filter((one) => [...one.attributes].some(({ name }) => name.startsWith("on") || name === "style")));
  add("element", [...document.querySelectorAll("iframe, object, embed, base, meta[http-equiv], style, foreignObject")]);
  add("svg", [...document.querySelectorAll("svg")].filter((one) => one.closest(".plot, .spark, .share, .split") === null));
  add("link", [...document.links].filter(({ protocol }) => !/^https?:$/.test(protocol)));
  add("form", [...document.forms].filter(({ action }) => !action.startsWith(location.origin)));
  add("image", [...document.images].filter(({ src, referrerPolicy }) => referrerPolicy !== "no-referrer" || !/^https?:/.test(src)));
  if (document.title.length > 200) found.push("title");
  if (document.querySelectorAll("main").length !== 1) found.push("main");
  return found;
})()`;
