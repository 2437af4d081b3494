import { expect, it } from "vitest";
import type { Visit } from "../kit/visit.ts";
import type { ShownCollection } from "./head.ts";
import { pricesView } from "./prices.ts";

const now = new Date("2026-03-05T10:30:00Z");

const sale = (timestamp: string) => ({
  ...{ saleId: timestamp, tokenId: "1", price: 1, quantity: 1, timestamp },
  ...{ currency: { symbol: "ETH" }, urls: { token: "/" } },
});

/** One sale in each hour of two days before now. */
const sales = Array.from({ length: 48 }, (_, hour) =>
  sale(new Date(now.getTime() - hour * 3_600_000).toISOString()),
);

/** What a page of so many days shows, where endpoints answer as the API does. */
async function pageOf(days: string): Promise<string> {
  const read = async (
    { operationId }: { operationId: string },
    { query = {} }: { query?: Record<string, string> },
  ) => {
    if (operationId === "getFloorHistory") {
      const interval = query.interval ?? (Number(query.days) <= 2 ? "1h" : "4h");
      return { data: { candles: [], currency: "ETH", interval, days: Number(query.days) } };
    }
    if (operationId !== "listSales") {
      const none = { levels: [], truncated: false };
      return { data: { currency: "ETH", listings: none, bids: none } };
    }
    const data = sales.filter(({ timestamp }) => timestamp >= (query.since ?? ""));
    return { data, meta: { total: data.length } };
  };
  const visit = { chainId: 1, read, now, parameter: () => days } as unknown as Visit;
  const row = { chainId: 1, slug: "punks", address: "0x" } as unknown as ShownCollection;
  return (await pricesView(visit, row)).text;
}

const labelOf = (page: string) => /aria-label="(Floor price and [^"]*)"/.exec(page)?.[1];

it("says that the times of its axis are UTC", async () => {
  for (const days of ["1", "7"]) {
    expect(await pageOf(days)).toMatch(/<div class="below"[^>]*><span>[^<]* UTC<\/span>/);
  }
});

it("shows the sales of the chart's time alone, and says of which", async () => {
  const day = await pageOf("1");
  // The chart begins at the hour a day ago: the first of these sales is half an hour later.
  expect(labelOf(day)).toBe("Floor price and 25 sales in ETH over 1 day");
  const [, dots = ""] = /<path class="dots" d="([^"]*)"/.exec(day) ?? [];
  expect(dots.split("M").at(-1)).toBe("20.41 300h0");
  expect(labelOf(await pageOf("7"))).toBe("Floor price and 48 sales in ETH over 7 days");
});
