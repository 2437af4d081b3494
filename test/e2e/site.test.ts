import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  findBarriers,
  openPage,
  overflowOf,
  startBrowser,
  type TestBrowser,
} from "../support/http/browser.ts";
import { openServedMarket, type ServedMarket } from "../support/http/served-market.ts";
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
  await page.screenshot({ path: join(testBrowser.pictures, `${name}.png`), fullPage: true });
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
