import type { Locator, Page } from "playwright-core";
import { expect } from "vitest";
import { findBarriers, keepPicture, overflowOf } from "./browser.ts";
import { phoneFaults } from "./page-checks.ts";

/** Requirements of every page: accessible, no horizontal overflow, no console output. */
export async function lookAt(page: Page, name: string): Promise<void> {
  await keepPicture(page, name);
  expect(await findBarriers(page), name).toEqual([]);
  expect(await overflowOf(page), `${name} is wider than its window`).toBeLessThanOrEqual(0);
  const { width = 0 } = page.viewportSize() ?? {};
  if (width < 600) expect(await phoneFaults(page, name)).toEqual([]);
}

/** Presses a button that sends a form, and waits for the page that answers it. */
export const send = (page: Page, label: string) =>
  leave(page, page.getByRole("button", { name: label }));
export const follow = (page: Page, label: string) =>
  leave(page, page.getByRole("link", { name: label }));

/** Waits for the next page with its styles, too. */
export async function leave(page: Page, by: Locator): Promise<void> {
  await Promise.all([page.waitForEvent("framenavigated"), by.click()]);
  await page.waitForLoadState();
}
