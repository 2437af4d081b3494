import type { BrowserContextOptions } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  findBarriers,
  keepPicture,
  openPage,
  overflowOf,
  startBrowser,
  type TestBrowser,
} from "../support/http/browser.ts";
import { cutParts, keyboardFaults, movingParts, phoneFaults } from "../support/http/page-checks.ts";
import { openServedMarket, type ServedMarket } from "../support/http/served-market.ts";

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

const pages = {
  overview: "/docs",
  list: "/docs/operations/listSales",
  call: "/docs/operations/getBuyData",
  errors: "/docs/errors",
  guide: "/docs/guides/keys-and-limits",
  handbook: "/docs/guides/operating",
  recipe: "/docs/guides/recipes-receive-webhooks",
  search: "/docs?q=royalty",
};

const openContext = (options: BrowserContextOptions = {}) =>
  testBrowser.browser.newContext({
    viewport: { width: 1440, height: 900 },
    colorScheme: "light",
    reducedMotion: "reduce",
    ...options,
  });

describe("the reference in a browser", () => {
  it.each(["light", "dark"] as const)(
    "can be used by everybody at any width, %s",
    async (colorScheme) => {
      const context = await openContext({ colorScheme });
      const { page, complaints } = await openPage(context);
      for (const [name, path] of Object.entries(pages)) {
        await page.goto(market.v1.url + path);
        expect.soft(await findBarriers(page), name).toEqual([]);
        expect.soft(await movingParts(page), name).toEqual([]);
        for (const width of [320, 390, 1024, 1440]) {
          await page.setViewportSize({ width, height: 900 });
          expect.soft(await overflowOf(page), `${name} at ${width}`).toBeLessThanOrEqual(0);
          expect.soft(await cutParts(page), `${name} at ${width}`).toEqual([]);
        }
        await keepPicture(page, `reference-${name}-${colorScheme}`);
      }
      await context.close();
      expect(complaints).toEqual([]);
    },
  );

  it("shows everything on a phone, and all of it can be touched and used", async () => {
    const context = await openContext({ viewport: { width: 320, height: 844 }, hasTouch: true });
    const { page, complaints } = await openPage(context);
    for (const [name, path] of Object.entries(pages)) {
      await page.goto(market.v1.url + path);
      expect.soft(await phoneFaults(page, `reference-${name}`)).toEqual([]);
    }
    await context.close();
    expect(complaints).toEqual([]);
  });

  it("is whole without scripts", async () => {
    const context = await openContext({ javaScriptEnabled: false });
    const { page } = await openPage(context);
    await page.goto(market.v1.url + pages.list);
    await page.getByText("Python", { exact: true }).click();
    expect(await page.getByText("from urllib.request import").isVisible()).toBe(true);
    expect(await page.getByRole("button", { name: "Send" }).isVisible()).toBe(false);
    await page.getByRole("searchbox").fill("holders");
    await page.getByRole("button", { name: "Search" }).click();
    expect(await page.locator("article").getByText("List holders").isVisible()).toBe(true);
    await context.close();
  });

  it("sends a call from the page, and shows what is refused", async () => {
    const context = await openContext();
    const { page, complaints } = await openPage(context);
    await page.goto(market.v1.url + pages.list);
    const form = page.locator("form.run");
    await form.getByLabel("collection").fill("punks");
    await form.getByRole("button", { name: "Send" }).click();
    await form.getByText(/^200 in \d+ ms/).waitFor();
    expect(await form.locator(".received").textContent()).toContain('"saleId"');
    await form.getByLabel("chainId").fill("5");
    await form.getByRole("button", { name: "Send" }).click();
    await form.getByText(/^422 in \d+ ms/).waitFor();
    expect(await form.locator(".received").textContent()).toContain("unsupported_chain");
    await context.close();
    // The browser itself tells of an answer that refuses.
    expect(complaints.filter((one) => !one.includes("422"))).toEqual([]);
  });

  it("remembers which language is read", async () => {
    const context = await openContext();
    const { page } = await openPage(context);
    await page.goto(market.v1.url + pages.list);
    await page.locator("summary", { hasText: "TypeScript" }).click();
    await page.waitForFunction("localStorage.getItem('reference-language') === 'TypeScript'");
    await page.goto(market.v1.url + pages.call);
    await page.locator('details[data-language="TypeScript"][open]').waitFor();
    expect(await page.locator("details.sample[open]").count()).toBe(1);
    await context.close();
  });

  it("can be used by the keyboard alone", async () => {
    const context = await openContext();
    const { page } = await openPage(context);
    await page.goto(market.v1.url + pages.call);
    expect(await keyboardFaults(page)).toEqual([]);
    await context.close();
  });
});
