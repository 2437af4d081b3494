import { gzipSync } from "node:zlib";
import type { BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { contracts } from "#devnet/contracts/addresses.ts";
import { appendObservations } from "#projections/log/append.ts";
import { openPage, overflowOf, type TestBrowser } from "#test/support/http/browser.ts";
import {
  type HostileListing,
  partnerAttacks,
  partnerMark,
  recordHostilePartners,
} from "#test/support/http/hostile-partner.ts";
import { attacks, hostileCollection, hostileRequests } from "#test/support/http/hostile-tokens.ts";
import { strangeParts } from "#test/support/http/page-checks.ts";
import type { ServedMarket } from "#test/support/http/served-market.ts";
import { chainId } from "#test/support/http/served-market-data.ts";
import { seedsOf } from "#test/support/thoroughness.ts";
import { openSuggestions } from "./suggestions.ts";

/** The media of the fixture are on hosts that do not exist: what their absence says is no complaint. */
export const withoutMedia = (complaints: readonly string[]) =>
  complaints.filter((text) => !/status of 404/.test(text));

type Opened = { page: Page; complaints: string[]; status: number | undefined; html: string };

/** What strangers write into their tokens, their links and, as a marketplace, into their answers. */
export function describeHostile(market: () => ServedMarket, testBrowser: () => TestBrowser): void {
  const requested: string[] = [];
  let context: BrowserContext;

  beforeAll(async () => {
    context = await testBrowser().browser.newContext({ viewport: { width: 360, height: 800 } });
    await context.route(/^(?!http:\/\/127\.0\.0\.1)/, (route) => {
      requested.push(`${route.request().resourceType()} ${route.request().url()}`);
      return route.fulfill({ status: 404, body: "" });
    });
  });
  afterAll(() => context?.close());

  async function open(path: string): Promise<Opened> {
    const { page, complaints } = await openPage(context);
    page.on("dialog", (dialog) => complaints.push(`dialog ${dialog.message()}`));
    const response = await page.goto(market().v1.url + path);
    return {
      ...{ page, complaints },
      status: response?.status(),
      html: (await response?.text()) ?? "",
    };
  }

  async function expectUnharmed(path: string, statuses = [200]): Promise<Opened> {
    const opened = await open(path);
    const { page, complaints, status, html } = opened;
    expect(statuses).toContain(status);
    expect(gzipSync(html).length).toBeLessThanOrEqual(30 * 1_024);
    expect(await strangeParts(page)).toEqual([]);
    expect(await overflowOf(page)).toBeLessThanOrEqual(0);
    expect(withoutMedia(complaints)).toEqual([]);
    expect(new URL(page.url()).pathname).toBe(new URL(market().v1.url + path).pathname);
    await page.close();
    return opened;
  }

  describe("a hostile collection", () => {
    const firstId = 5;

    beforeAll(async () => {
      await appendObservations(market().book.db, hostileCollection(firstId));
      await market().book.catchUp();
    });

    it.each([
      ...seedsOf(Object.keys(attacks), 6).map((name, index) => [
        name,
        `/collections/${contracts.punks}/tokens/${firstId + index}?chainId=${chainId}`,
      ]),
      ["all of them at once", `/collections/punks?chainId=${chainId}`],
      ["its name in the market", `/?chainId=${chainId}`],
      ["its traits", `/collections/punks?chainId=${chainId}&view=traits`],
      ["its name in a search", `/search?q=%3Cscript%3E&chainId=${chainId}`],
    ])("harms no page: %s", async (_name, path) => {
      await expectUnharmed(path);
    });

    it.each(seedsOf(hostileRequests, 5))(
      "nor does what a link may say: %s",
      async (_name, path) => {
        const { page, complaints, status } = await open(path);
        expect([200, 404, 422]).toContain(status);
        expect(await strangeParts(page)).toEqual([]);
        expect(await overflowOf(page)).toBeLessThanOrEqual(0);
        expect(complaints.filter((text) => !/status of 4(04|22)/.test(text))).toEqual([]);
        await page.close();
      },
    );

    it("harms nobody who is about to search for it", async () => {
      const url = `${market().v1.url}/?chainId=${chainId}`;
      const { page, complaints } = await openSuggestions(context, { url, text: "punks" });
      await page.getByRole("option", { name: "<script>" }).waitFor();
      expect(await strangeParts(page)).toEqual([]);
      expect(await overflowOf(page)).toBeLessThanOrEqual(0);
      expect(withoutMedia(complaints)).toEqual([]);
      await page.close();
    });

    it("leaves the rows of others readable beside its own", async () => {
      const { page } = await openPage(context);
      await page.goto(`${market().v1.url}/collections/punks?chainId=${chainId}`);
      const names = await page.locator(".card").allInnerTexts();
      for (const id of [1, 2, 3, 4]) expect(names.join("\n")).toContain(`Punk ${id}`);
      await page.close();
    });
  });

  describe("a hostile partner marketplace", () => {
    let listings: HostileListing[];

    beforeAll(async () => {
      listings = await recordHostilePartners(market().book.db);
      await market().book.catchUp();
    });

    it.each(seedsOf(Object.keys(partnerAttacks), 4))(
      "harms no page, and says nothing on one: %s",
      async (name) => {
        const listing = listings.find(({ attack }) => attack === name);
        if (listing === undefined) throw new Error(`${name} is not listed`);
        const { askId, contract, tokenId } = listing;
        const own = await expectUnharmed(`/listings/${askId}?chainId=${chainId}`);
        // Some offer what does not exist.
        const token = `/collections/${contract}/tokens/${tokenId}?chainId=${chainId}`;
        const { html } = await expectUnharmed(token, [200, 404]);
        expect(own.html + html).not.toContain(partnerMark);
      },
    );

    it.each([
      `/collections/punks?chainId=${chainId}&view=items&marketplace=magiceden`,
      `/collections/punks?chainId=${chainId}&view=prices`,
      `/activity?chainId=${chainId}&type=listing`,
    ])("harms no list: %s", async (path) => {
      expect((await expectUnharmed(path)).html).not.toContain(partnerMark);
    });
  });

  it("nothing was loaded but images and videos, from public https hosts", () => {
    const others = requested.filter(
      (one) => !/^(image|media) https:\/\/[a-z0-9.-]+\.[a-z]+\//.test(one),
    );
    expect(others).toEqual([]);
  });
}
