import { setTimeout as delay } from "node:timers/promises";
import type { Page } from "playwright-core";
import type { Hex } from "viem";
import { z } from "zod";
import { startBrowser } from "../support/http/browser.ts";
import { type Figure, percentileFigures } from "./figure.ts";
import { withInstallation } from "./installation.ts";
import { timeSales } from "./latency.ts";

const percentiles = [
  { percent: 50, goalMs: null },
  { percent: 95, goalMs: 300 },
  { percent: 99, goalMs: null },
];
const pollEveryMs = 10;
const giveUpMs = 30_000;

/** From just before a block is mined until its sale is drawn on a page that is open in a browser. */
export function run(): Promise<Figure[]> {
  return withInstallation(async ({ ethereum, apechain, whileServing }) => {
    // Ponder reaches the head of a chain when blocks arrive.
    for (const { client } of [ethereum, apechain]) await client.setIntervalMining({ interval: 1 });
    const chains = [ethereum, apechain].map(({ anvil: { chainId, rpcUrl, wsUrl } }) => ({
      ...{ chainId, rpcUrl, wsUrl },
    }));
    return whileServing(chains, async (baseUrl) => {
      const { browser, close } = await startBrowser();
      try {
        const context = await browser.newContext();
        await context.route(/^https:/, (route) => route.fulfill({ status: 404, body: "" }));
        const page = await context.newPage();
        await page.goto(`${baseUrl}/activity?chainId=1&type=sale`);
        await page.locator("#live[data-state=live]").waitFor();
        await page.evaluate(observe);
        const durationsMs = await timeSales(ethereum, (hash) => drawnAt(page, hash));
        const size = "chain 1, websocket of the node, page /activity in Chromium";
        return percentileFigures("live page", durationsMs, percentiles, size);
      } finally {
        await close();
      }
    });
  });
}

/** Notes the time of the frame after a row was put into the table, by its transaction. */
const observe = `(() => {
  window.drawn = new Map();
  new MutationObserver((records) => {
    const added = records.flatMap(({ addedNodes }) => [...addedNodes]);
    requestAnimationFrame(() => {
      for (const { dataset } of added) {
        window.drawn.set(dataset.key.split(" ")[0], performance.timeOrigin + performance.now());
      }
    });
  }).observe(document.getElementById("live-rows"), { childList: true });
})()`;

async function drawnAt(page: Page, hash: Hex): Promise<number> {
  const deadline = performance.now() + giveUpMs;
  for (;;) {
    const at = await page.evaluate(`window.drawn.get(${JSON.stringify(hash)}) ?? null`);
    if (at !== null) return z.number().parse(at);
    if (performance.now() > deadline) throw new Error(`the sale of ${hash} is not drawn`);
    await delay(pollEveryMs);
  }
}
