import type { BrowserContext, Page } from "playwright-core";
import { expect, it } from "vitest";
import { z } from "zod";
import { contracts } from "#devnet/contracts/addresses.ts";
import type { TestBrowser } from "#test/support/http/browser.ts";
import type { ServedMarket } from "#test/support/http/served-market.ts";
import { chainId } from "#test/support/http/served-market-data.ts";

const txHash = `0x${"7".repeat(64)}`;

/** An event as the stream sends it. */
const event = (id: string, more: Readonly<Record<string, unknown>>) => ({
  ...{ id, type: "transfer", retracts: null, contract: contracts.editions, token_id: "1" },
  ...{ quantity: "1", from: `0x${"1".repeat(40)}`, to: `0x${"2".repeat(40)}`, price: null },
  ...{ price_wei: null, currency: null, order_hash: null, sale_id: null, marketplace: null },
  ...{ tx_hash: txHash, log_index: 3, sub_index: 0, timestamp: new Date().toISOString(), ...more },
});

const Events = z.object({
  data: z.array(z.looseObject({ type: z.string() })),
  meta: z.looseObject({ next: z.string(), has_more: z.boolean() }),
});

/** Every event of the feed that was not taken back. */
async function eventsOf({ v1 }: ServedMarket): Promise<unknown[]> {
  const events: unknown[] = [];
  for (let after: string | undefined = "0-0"; after !== undefined; ) {
    const { body } = await v1.get(`/v1/events?chainId=${chainId}&per_page=100&after=${after}`);
    const { data, meta } = Events.parse(body);
    events.push(...data.filter(({ type }) => type !== "retracted"));
    after = meta.has_more ? meta.next : undefined;
  }
  return events;
}

/** What the script makes of events whose rows the server made, too: without values in USD, which events do not have. */
const compareRows = (events: readonly unknown[]) => `(async () => {
  const { keyOf, rowOf } = await import("/assets/site/live-row.js");
  const rows = document.getElementById("live-rows");
  const comparable = (row) => {
    const copy = row.cloneNode(true);
    copy.removeAttribute("class");
    for (const usd of copy.querySelectorAll(".usd")) usd.remove();
    for (const time of copy.querySelectorAll("time")) time.textContent = "";
    for (const cell of copy.children) cell.innerHTML = cell.innerHTML.trim();
    return copy;
  };
  const [{ chainId, chain }] = JSON.parse(document.body.dataset.live);
  const pairs = ${JSON.stringify(events)}.flatMap((one) => {
    const event = { ...one, chainId, chain };
    const served = [...rows.children].find((row) => row.dataset.key === keyOf(event));
    return served === undefined ? [] : [[comparable(served), comparable(rowOf(event, rows))]];
  });
  const wrong = pairs.filter(([served, live]) => !served.isEqualNode(live));
  return { compared: pairs.length, wrong: wrong.map((pair) => pair.map((row) => row.outerHTML)) };
})()`;

/** Where the page goes on in the feed of its first chain. */
const placeOf = (page: Page) => page.evaluate("JSON.parse(document.body.dataset.live)[0].after");

/** Streams that were asked for, each answered with its number's status and events; the last one is repeated. */
async function answerStreams(
  context: BrowserContext,
  answers: readonly { status?: number; events?: readonly ReturnType<typeof event>[] }[],
): Promise<URL[]> {
  const asked: URL[] = [];
  await context.route(/\/live\?/, (route) => {
    const { status = 200, events = [] } = answers[Math.min(asked.length, answers.length - 1)] ?? {};
    asked.push(new URL(route.request().url()));
    const framed = events.map(
      (one) => `id: ${one.id}\nevent: ${one.type}\ndata: ${JSON.stringify(one)}\n\n`,
    );
    // What ends is asked for again by the browser itself: not before the test has ended.
    const body = `retry: 3600000\n\n${framed.join("")}`;
    return route.fulfill({ status, contentType: "text/event-stream", body });
  });
  return asked;
}

/** What an open page makes of streams that the test answers. */
export function describeStreams(market: () => ServedMarket, testBrowser: () => TestBrowser): void {
  const open = async (answers: Parameters<typeof answerStreams>[1], query = "") => {
    const context = await testBrowser().browser.newContext();
    const asked = await answerStreams(context, answers);
    const page = await context.newPage();
    await page.clock.install();
    await page.goto(`${market().v1.url}/activity?chainId=${chainId}${query}`);
    return { context, page, asked };
  };
  const arrived = (page: Page) => page.locator("#live-rows tr.arrives");

  it("asks again for a stream that is refused, from the last event on", async () => {
    const refused = { status: 503 };
    const { context, page, asked } = await open([
      refused,
      refused,
      { events: [event("9000-1", {})] },
    ]);
    await page.locator("#live[data-state=waiting]").waitFor();
    await page.clock.runFor(4_000);
    expect(asked).toHaveLength(1);
    await page.clock.runFor(6_000);
    await expect.poll(() => asked.length).toBe(2);
    await expect
      .poll(async () => {
        await page.clock.runFor(1_000);
        return arrived(page).count();
      })
      .toBe(1);
    const [first, , third] = asked.map(({ searchParams }) => searchParams.get("after"));
    expect(third).toBe(first);

    await page.getByRole("button", { name: "Pause" }).click();
    await page.getByRole("button", { name: "Resume" }).click();
    await expect.poll(() => asked.at(-1)?.searchParams.get("after")).toBe("9000-1");
    await context.close();
  });

  it("does not ask while it is paused", async () => {
    const { context, page, asked } = await open([{ status: 429 }]);
    await page.locator("#live[data-state=waiting]").waitFor();
    await page.getByRole("button", { name: "Pause" }).click();
    await page.clock.runFor(20_000);
    expect(asked).toHaveLength(1);
    expect(await page.locator("#live .state").textContent()).toBe("paused");
    await context.close();
  });

  it("shows every token of one log, and each once", async () => {
    const { context, page } = await open([
      {
        events: [
          event("9000-1", {}),
          event("9000-2", { token_id: "2", sub_index: 1 }),
          event("9000-3", { sub_index: 2 }),
          event("9000-4", { quantity: "5", sub_index: 3 }),
          event("9000-5", {}),
        ],
      },
    ]);
    await expect.poll(() => arrived(page).count()).toBe(4);
    // Screen readers hear of the state alone.
    expect(await page.locator("#live [role=status]").textContent()).not.toContain("new");
    expect(await page.locator("#live [aria-hidden=true]").textContent()).toBe("4 new");
    await context.close();
  });

  it.each(["sale", "listing", "offer", "transfer,mint,burn"])(
    "makes the rows that the server makes: %s",
    async (type) => {
      const events = await eventsOf(market());
      const { context, page } = await open([{}], `&type=${type}`);
      const Rows = z.object({ compared: z.number(), wrong: z.array(z.unknown()) });
      const { compared, wrong } = Rows.parse(await page.evaluate(compareRows(events)));
      expect(wrong).toEqual([]);
      expect(compared).toBeGreaterThan(0);
      await context.close();
    },
  );

  it("does not say that nothing happened once something has", async () => {
    const { context, page } = await open([{ events: [event("9000-1", {})] }], "&type=cancel");
    await arrived(page).waitFor();
    expect(await page.locator("main").textContent()).not.toContain("Nothing happened yet.");
    await context.close();
  });

  it("shows every sale of one log, with the transfer that it is as well", async () => {
    const sale = { type: "sale", sub_index: null };
    const { context, page } = await open([
      {
        events: [
          event("9000-1", { ...sale, sale_id: `0x${"3".repeat(64)}` }),
          event("9000-2", { ...sale, sale_id: `0x${"4".repeat(64)}` }),
          event("9001-1", {}),
          event("9002-1", {
            ...{ ...sale, type: "retracted", retracts: { type: "sale" } },
            sale_id: `0x${"4".repeat(64)}`,
          }),
        ],
      },
    ]);
    await page.locator("#live-rows tr.retracted").waitFor();
    expect(await arrived(page).count()).toBe(2);
    expect(await page.locator("#live-rows tr.retracted").count()).toBe(1);
    await context.close();
  });

  it("does not show again what the page was made with", async () => {
    const { context, page } = await open([{ status: 503 }]);
    const keys = await page
      .locator("#live-rows tr")
      .evaluateAll((rows) => rows.map((row) => row.getAttribute("data-key") ?? ""));
    const transfer = keys.map((key) => /^(0x\w+)-(\d+)-(\d+)$/.exec(key)).find((one) => one);
    if (!transfer) throw new Error(`no transfer among ${keys.join(", ")}`);
    const [, tx_hash, log, sub] = transfer;
    const known = { tx_hash, log_index: Number(log), sub_index: Number(sub) };
    await context.unroute(/\/live\?/);
    await answerStreams(context, [{ events: [event("9000-1", known), event("9000-2", {})] }]);
    await expect
      .poll(async () => {
        await page.clock.runFor(1_000);
        return arrived(page).count();
      })
      .toBe(1);
    await context.close();
  });

  it("begins anew where its place is of another log, as after a restore", async () => {
    const context = await testBrowser().browser.newContext();
    const page = await context.newPage();
    await page.clock.install();
    const ofAnotherLog = "999999999999-0";
    const isActivity = (url: URL) => url.pathname === "/activity";
    await page.route(
      isActivity,
      async (route) => {
        const response = await route.fetch();
        const body = await response.text();
        await route.fulfill({
          response,
          body: body.replace(/(&#34;after&#34;:&#34;)[^&]*/, `$1${ofAnotherLog}`),
        });
      },
      { times: 1 },
    );
    await page.goto(`${market().v1.url}/activity?chainId=${chainId}`);
    expect(await placeOf(page)).toBe(ofAnotherLog);
    await page.locator("#live[data-state=waiting]").waitFor();
    await expect
      .poll(async () => {
        await page.clock.runFor(1_000);
        return placeOf(page);
      })
      .not.toBe(ofAnotherLog);
    await page.locator("#live[data-state=live]").waitFor();
    await context.close();
  });

  it("shows what happens again while its retraction is still struck through", async () => {
    const { context, page } = await open([
      {
        events: [
          event("9000-1", {}),
          event("9001-1", { type: "retracted", retracts: { type: "transfer" } }),
          event("9002-1", {}),
        ],
      },
    ]);
    const there = page.locator("#live-rows tr.arrives:not(.retracted)");
    await there.waitFor();
    await page.clock.runFor(6_000);
    await expect.poll(() => page.locator("#live-rows tr.retracted").count()).toBe(0);
    expect(await there.count()).toBe(1);
    await context.close();
  });
}
