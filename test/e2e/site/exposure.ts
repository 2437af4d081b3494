import { describe, expect, it } from "vitest";
import type { TestBrowser } from "#test/support/http/browser.ts";
import type { ServedMarket } from "#test/support/http/served-market.ts";
import { sitePagesOf } from "#test/support/http/site-pages.ts";

/** How much wider the table is than the box that it scrolls in. */
const tableBeyondItsBox = `(() => {
  const { scrollWidth, clientWidth } = document.querySelector(".scroll");
  return scrollWidth - clientWidth;
})()`;

/** The table of what others could use of a wallet. */
export function describeExposure(market: () => ServedMarket, testBrowser: () => TestBrowser): void {
  const open = async (width: number) => {
    const viewport = { width, height: 844 };
    const page = await testBrowser().browser.newPage({ viewport, javaScriptEnabled: false });
    await page.goto(market().v1.url + (sitePagesOf(market())["wallet-exposure"] ?? ""));
    return page;
  };

  describe("the exposure of a wallet", () => {
    it("stays within the page while every calldata is open", async () => {
      const page = await open(1280);
      const summaries = page.locator("td summary");
      const count = await summaries.count();
      expect(count).toBeGreaterThan(0);
      for (let index = 0; index < count; index += 1) await summaries.nth(index).click();
      const beyond = await page.evaluate(tableBeyondItsBox);
      expect(beyond).toBeLessThanOrEqual(0);
      await page.close();
    });

    it("says why it matters on a phone, too", async () => {
      const page = await open(360);
      const head = page.getByRole("columnheader", { name: "Why it matters" });
      expect(await head.isVisible()).toBe(true);
      await page.close();
    });
  });
}
