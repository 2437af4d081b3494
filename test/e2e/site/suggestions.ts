import type { BrowserContext, Page, Route } from "playwright-core";
import { describe, expect, it } from "vitest";
import {
  findBarriers,
  keepPicture,
  openPage,
  overflowOf,
  type TestBrowser,
} from "#test/support/http/browser.ts";
import { phoneFaults } from "#test/support/http/page-checks.ts";
import type { ServedMarket } from "#test/support/http/served-market.ts";
import { chainId } from "#test/support/http/served-market-data.ts";

const isAsked = (url: URL) => url.pathname === "/search/suggestions";
const option = (name: string) =>
  `<a role="option" id="suggestion-0" aria-selected="false" tabindex="-1" href="/status">${name}</a>`;

/** The box, its list and what a screen reader hears of it. */
const partsOf = (page: Page) => ({
  box: page.locator(".search input[type=search]"),
  list: page.getByRole("listbox", { name: "Suggestions" }),
  count: page.locator(".search [role=status]"),
});

/** Until the page did what it was about to do. */
const aTurn = (page: Page) => page.evaluate("new Promise((done) => setTimeout(done))");

const activeOf = (page: Page) =>
  page.evaluate(
    "document.getElementById(document.activeElement?.getAttribute('aria-activedescendant'))?.textContent ?? null",
  );

/** What is suggested while somebody types. */
export function describeSuggestions(
  market: () => ServedMarket,
  testBrowser: () => TestBrowser,
): void {
  const open = async (answer?: (route: Route) => Promise<void>, width = 1280) => {
    const viewport = { width, height: 844 };
    const context = await testBrowser().browser.newContext({ viewport, hasTouch: width < 600 });
    if (answer !== undefined) await context.route(isAsked, answer);
    const { page, complaints } = await openPage(context);
    await page.goto(`${market().v1.url}/?chainId=${chainId}`);
    return { context, page, complaints, ...partsOf(page) };
  };

  describe("suggestions", () => {
    it("are gone through with the arrow keys, and Enter opens one", async () => {
      const { context, page, complaints, box, list, count } = await open();
      await box.focus();
      await box.and(page.getByRole("combobox", { expanded: false })).waitFor();
      await box.pressSequentially("pun");
      await list.waitFor();
      const options = await list.getByRole("option").allTextContents();
      expect(options[0]).toMatch(/Collection on .*, floor \d/);
      expect(await count.textContent()).toBe(
        options.length === 1 ? "1 suggestion" : `${options.length} suggestions`,
      );
      expect(await box.getAttribute("aria-expanded")).toBe("true");
      expect(await activeOf(page)).toBeNull();
      await page.keyboard.press("ArrowUp");
      expect(await activeOf(page)).toBe(options.at(-1));
      await page.keyboard.press("ArrowDown");
      expect(await activeOf(page)).toBeNull();
      await page.keyboard.press("ArrowDown");
      expect(await activeOf(page)).toBe(options[0]);
      expect(await list.getByRole("option", { selected: true }).count()).toBe(1);
      await page.keyboard.press("Enter");
      await page.waitForURL(/\/collections\/punks/);
      expect(complaints).toEqual([]);
      await context.close();
    });

    it("are put away by Escape, which keeps the text, and Enter searches for it", async () => {
      const { context, page, box, list, count } = await open();
      await box.focus();
      await box.pressSequentially("pun");
      await list.waitFor();
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("Escape");
      expect(await list.isVisible()).toBe(false);
      expect(await box.inputValue()).toBe("pun");
      expect(await box.getAttribute("aria-expanded")).toBe("false");
      expect(await activeOf(page)).toBeNull();
      expect(await count.textContent()).toBe("");
      await page.keyboard.press("Enter");
      await page.waitForURL(/\/search\?/);
      expect(new URL(page.url()).searchParams.get("q")).toBe("pun");
      await context.close();
    });

    it("of what was typed before never take the place of newer ones", async () => {
      const held: Route[] = [];
      const { context, box, list } = await open(async (route) => {
        const text = new URL(route.request().url()).searchParams.get("q");
        if (text === "pu") held.push(route);
        else await route.fulfill({ contentType: "text/html", body: option(`of ${text}`) });
      });
      await box.focus();
      await box.pressSequentially("pu");
      await expect.poll(() => held.length).toBe(1);
      await box.pressSequentially("n");
      await list.getByText("of pun").waitFor();
      await held[0]?.fulfill({ contentType: "text/html", body: option("of pu") }).catch(() => {});
      // A later one, whose answer comes after whatever the page made of the held one.
      await box.pressSequentially("k");
      await list.getByText("of punk").waitFor();
      expect(await list.getByRole("option").allTextContents()).toEqual(["of punk"]);
      await context.close();
    });

    it("that come once the list was put away stay away", async () => {
      const held: Route[] = [];
      const { context, page, box, list } = await open(async (route) => {
        held.push(route);
      });
      await box.focus();
      await box.pressSequentially("pun");
      await expect.poll(() => held.length).toBe(1);
      await page.getByRole("heading", { level: 1 }).click();
      await held[0]?.fulfill({ contentType: "text/html", body: option("late") }).catch(() => {});
      await aTurn(page);
      expect(await list.count()).toBe(0);
      await context.close();
    });

    it.each([429, 503])("are none where they are refused: %i", async (status) => {
      const { context, page, box, list, count } = await open((route) =>
        route.fulfill({ status, contentType: "text/html", body: option("refused") }),
      );
      const answered = page.waitForResponse((one) => isAsked(new URL(one.url())));
      await box.focus();
      await box.pressSequentially("pun");
      await (await answered).finished();
      await aTurn(page);
      expect(await list.count()).toBe(0);
      expect(await count.textContent()).toBe("");
      await box.press("Enter");
      await page.waitForURL(/\/search\?/);
      await context.close();
    });

    it("are asked for once, when the typing rests, and nothing is loaded before", async () => {
      const asked: string[] = [];
      const { context, page, box, list } = await open();
      page.on("request", (request) => asked.push(new URL(request.url()).pathname));
      const loaded = await page.evaluate(
        "performance.getEntriesByType('resource').map(({ name }) => new URL(name).pathname)",
      );
      expect(loaded).not.toContain("/assets/site/suggest.js");
      await box.focus();
      await page.getByRole("combobox").and(box).waitFor();
      expect(asked).toContain("/assets/site/suggest.js");
      await page.clock.install();
      await box.pressSequentially("punk");
      await page.clock.runFor(1_000);
      await list.waitFor();
      expect(asked.filter((one) => one === "/search/suggestions")).toHaveLength(1);
      await context.close();
    });

    it.each(["light", "dark"] as const)("can be used by everybody, %s", async (colorScheme) => {
      const { context, page, box, list } = await open();
      await page.emulateMedia({ colorScheme });
      await typeAndWait(page);
      await page.keyboard.press("ArrowDown");
      expect(await findBarriers(page)).toEqual([]);
      expect(await overflowOf(page)).toBeLessThanOrEqual(0);
      for (const width of [1440, 1280]) {
        await page.setViewportSize({ width, height: 844 });
        await keepPicture(page, `site-suggestions-${width}-${colorScheme}`);
      }
      expect(await list.isVisible()).toBe(true);
      expect(await box.inputValue()).toBe("pun");
      await context.close();
    });

    it("can be touched on a phone", async () => {
      const { context, page, list } = await open(undefined, 390);
      await typeAndWait(page);
      expect(await phoneFaults(page, "site-suggestions")).toEqual([]);
      const first = list.getByRole("option").first();
      expect((await first.boundingBox())?.height).toBeGreaterThanOrEqual(24);
      await first.tap();
      await page.waitForURL(/\/collections\/punks/);
      await context.close();
    });
  });
}

async function typeAndWait(page: Page, text = "pun"): Promise<void> {
  const { box, list } = partsOf(page);
  await box.focus();
  await box.pressSequentially(text);
  await list.waitFor();
}

/** What a hostile name makes of the list that suggests it. */
export async function openSuggestions(
  context: BrowserContext,
  { url, text }: { url: string; text: string },
): Promise<{ page: Page; complaints: string[] }> {
  const opened = await openPage(context);
  await opened.page.goto(url);
  await typeAndWait(opened.page, text);
  return opened;
}
