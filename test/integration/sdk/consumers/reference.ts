import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { openPage, startBrowser, type TestBrowser } from "#test/support/http/browser.ts";
import type { TestChain } from "#test/support/orders/test-chains.ts";

const Described = z.object({
  paths: z.record(
    z.string(),
    z.record(z.string(), z.looseObject({ summary: z.string(), operationId: z.string() })),
  ),
});

/** What callers read before they use the client. */
export function describeReference(openChain: () => TestChain): void {
  describe("/docs in Chromium", () => {
    let testBrowser: TestBrowser;
    beforeAll(async () => {
      testBrowser = await startBrowser();
    });
    afterAll(() => testBrowser?.close());

    it("shows every operation's summary, and its examples and error codes when it is opened", async () => {
      const { baseUrl } = openChain();
      const document = await (await fetch(`${baseUrl}/v1/openapi.json`)).json();
      const { paths } = Described.parse(document);
      const operations = Object.values(paths).flatMap((methods) => Object.values(methods));
      const { page, complaints } = await openPage(await testBrowser.browser.newContext());
      await page.goto(`${baseUrl}/docs`);
      await page.locator(".opblock").first().waitFor();
      const shown = await page.locator(".opblock-summary-description").allTextContents();
      expect(shown.toSorted()).toEqual(operations.map(({ summary }) => summary).toSorted());

      const buying = page.locator('[id$="-getBuyData"]');
      await buying.locator(".opblock-summary-control").click();
      await buying.locator(".responses-table").waitFor();
      expect(await buying.locator("textarea").inputValue()).toContain('"buyer"');
      const text = await buying.innerText();
      // Of the answer, and of the refusals.
      for (const part of ['"validUntil"', "price_above_max", "order_mismatch"])
        expect(text).toContain(part);
      expect(complaints).toEqual([]);
    });
  });
}
