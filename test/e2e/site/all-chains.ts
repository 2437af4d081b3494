import type { BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ChainId, chainIds, chainNames } from "#chains/index.ts";
import { addressOf } from "#test/support/database/given.ts";
import {
  findBarriers,
  keepPicture,
  openPage,
  overflowOf,
  type TestBrowser,
} from "#test/support/http/browser.ts";
import { auditFaults, phoneFaults } from "#test/support/http/page-checks.ts";
import { openTwoChains, type TwoChains } from "#test/support/http/two-chains.ts";
import { withoutMedia } from "./hostile.ts";

/** The market of several chains together, and the choice of one. */
export function describeAllChains(testBrowser: () => TestBrowser): void {
  let served: TwoChains;
  beforeAll(async () => {
    served = await openTwoChains("http://market.example.test");
  });
  afterAll(() => served?.close());

  const open = async (path: string, options: BrowserContextOptions = {}) => {
    const context = await testBrowser().browser.newContext(options);
    const { page, complaints } = await openPage(context);
    await page.goto(served.url + path);
    return { context, page, complaints };
  };
  const choices = (page: Page) => page.getByRole("navigation", { name: "Chain" });
  const chosen = (page: Page) => choices(page).locator("[aria-current]").textContent();
  const last = chainIds.at(-1) as ChainId;

  describe("all chains", () => {
    it("are one market without scripts, and the choice of one is remembered", async () => {
      const { context, page } = await open("/", { javaScriptEnabled: false });
      expect(await chosen(page)).toBe("All chains");
      await choices(page).getByRole("link", { name: chainNames[last] }).click();
      await page.getByRole("heading", { name: `NFTs on ${chainNames[last]}` }).waitFor();

      await page.goto(`${served.url}/collections/ethereum-1?chainId=${chainIds[0]}`);
      const menu = page.getByRole("navigation", { name: "Main" });
      await menu.getByRole("link", { name: "Activity" }).click();
      await page.getByRole("heading", { name: `Activity on ${chainNames[last]}` }).waitFor();
      await choices(page).getByRole("link", { name: "All chains" }).click();
      await page.getByRole("heading", { name: "Activity on all chains" }).waitFor();
      await menu.getByRole("link", { name: "Market" }).click();
      await page.getByRole("heading", { name: "NFTs on all chains" }).waitFor();
      await page.getByRole("link", { name: "Next page" }).click();
      expect(await page.locator("tbody").first().locator("tr").count()).toBeGreaterThan(0);
      expect(await chosen(page)).toBe("All chains");
      await context.close();
    });

    it.each(chainIds)(
      "are followed together: a row that arrives is of its chain %i",
      async (id) => {
        const { context, page, complaints } = await open("/activity?chainId=all");
        await page.locator("#live[data-state=live]").waitFor();
        await served.moves(id);
        const row = page.locator("#live-rows tr.arrives");
        await row.waitFor();
        expect(await row.locator("[data-column=chain]").textContent()).toBe(chainNames[id]);
        // Both chains have a collection at its address.
        const named = row.locator("[data-column=collection] a");
        expect(await named.textContent()).toContain(chainNames[id]);
        const links = await row.locator("a").evaluateAll((all) => all.map((one) => String(one)));
        expect(links.length).toBeGreaterThan(3);
        expect(links.filter((one) => !one.endsWith(`chainId=${id}`))).toEqual([]);
        expect(withoutMedia(complaints)).toEqual([]);
        await context.close();
      },
    );

    it.each([
      ["market", "/?chainId=all&period=7d"],
      ["activity", "/activity?chainId=all"],
      ["wallet", `/wallets/${addressOf(0x51)}?chainId=all`],
    ])("can be used by everybody, on a phone too, light and dark: %s", async (shown, path) => {
      const name = `site-all-chains-${shown}`;
      const viewport = { width: 1440, height: 844 };
      const { context, page, complaints } = await open(path, { viewport, hasTouch: true });
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
        expect(await findBarriers(page)).toEqual([]);
        await keepPicture(page, `${name}-1440-${colorScheme}`);
      }
      expect(await auditFaults(page)).toEqual([]);
      expect(await overflowOf(page)).toBeLessThanOrEqual(0);
      expect(await phoneFaults(page, name)).toEqual([]);
      expect(withoutMedia(complaints)).toEqual([]);
      await context.close();
    });
  });
}
