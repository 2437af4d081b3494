import { expect, it } from "vitest";
import type { Visit } from "../kit/visit.ts";
import type { ShownCollection } from "./head.ts";
import { pricesView } from "./prices.ts";

const now = new Date("2026-03-05T10:30:00Z");

const sale = (timestamp: string) => ({
  ...{ saleId: timestamp, tokenId: "1", price: 1, quantity: 1, timestamp },
  ...{ currency: { symbol: "ETH" }, urls: { token: "/" }, usd: 150 as number | null },
});

/** One sale in each hour of two days before now. */
const hourly = Array.from({ length: 48 }, (_, hour) =>
  sale(new Date(now.getTime() - hour * 3_600_000).toISOString()),
);

type Given = { sales?: readonly (typeof hourly)[number][]; currency?: string };

/** What a page of so many days shows, where endpoints answer as the API does. */
async function pageOf(
  days: string,
  { sales = hourly, currency = "" }: Given = {},
): Promise<string> {
  const read = async (
    { operationId }: { operationId: string },
    { query = {} }: { query?: Record<string, string> },
  ) => {
    if (operationId === "getFloorHistory") {
      const interval = query.interval ?? (Number(query.days) <= 2 ? "1h" : "4h");
      const candles = [{ t: "2026-03-05T08:00:00.000Z", o: 1, h: 3, l: 0.5, c: 2 }];
      return { data: { candles, currency: "ETH", interval, days: Number(query.days) } };
    }
    if (operationId === "getCryptoHistory") {
      const coin = { o: 100, h: 500, l: 10, c: 200 };
      const times = ["2026-03-05T08:00:00.000Z", "2026-03-05T12:00:00.000Z"];
      return { data: { candles: times.map((t) => ({ t, ...coin })) } };
    }
    if (operationId !== "listSales") {
      const none = { levels: [], truncated: false };
      return { data: { currency: "ETH", listings: none, bids: none } };
    }
    const data = sales.filter(({ timestamp }) => timestamp >= (query.since ?? ""));
    return { data, meta: { total: data.length } };
  };
  const parameter = (name: string) => ({ days, currency })[name] ?? "";
  const visit = { chainId: 1, read, now, parameter } as unknown as Visit;
  const row = { chainId: 1, slug: "punks", address: "0x" } as unknown as ShownCollection;
  return (await pricesView(visit, row)).text;
}

const labelOf = (page: string) => /aria-label="(Floor price and [^"]*)"/.exec(page)?.[1];

it("says that the times of its axis are UTC", async () => {
  for (const days of ["1", "7"]) {
    expect(await pageOf(days)).toMatch(/<svg class="below"[^>]*><text [^>]*>[^<]* UTC<\/text>/);
  }
});

it("shows the sales of the chart's time alone, and says of which", async () => {
  const day = await pageOf("1");
  // The chart begins at the hour a day ago: the first of these sales is half an hour later.
  expect(labelOf(day)).toBe("Floor price and 25 sales in ETH over 1 day");
  const [, dots = ""] = /<path class="dots" d="([^"]*)"/.exec(day) ?? [];
  const [, x = "", y = ""] = /^([\d.]+) ([\d.]+)h0$/.exec(dots.split("M").at(-1) ?? "") ?? [];
  expect([x, Number(y) > 0 && Number(y) < 300]).toEqual(["20.41", true]);
  expect(labelOf(await pageOf("7"))).toBe("Floor price and 48 sales in ETH over 7 days");
});

const ticksOf = (page: string) =>
  [
    ...(/id="floor-chart".*?<svg class="below"[^>]*>(.*?)<\/svg>/s.exec(page)?.[1] ?? "").matchAll(
      /<text [^>]*>([^<]*)<\/text>/g,
    ),
  ].map(([, text = ""]) => text);

it.each([
  ["1", /^(\d\d:00|[A-Z][a-z]{2} \d+)( UTC)?$/, ["12:00 UTC", "18:00", "Thu 5", "06:00"]],
  ["7", /^[A-Z][a-z]{2} \d+( UTC)?$/, ["Sat 28 UTC", "Mon 2", "Wed 4"]],
  ["30", /./, ["Feb 9 UTC", "Feb 16", "Feb 23", "Mar 2"]],
  ["90", /./, ["Jan 2026 UTC", "Feb 2026", "Mar 2026"]],
  ["365", /./, ["Apr 2025 UTC", "Jul 2025", "Oct 2025", "Jan 2026"]],
])("has round times on its axis: %s", async (days, form, texts) => {
  const ticks = ticksOf(await pageOf(days));
  for (const tick of ticks) expect(tick).toMatch(form);
  expect(ticks).toEqual(texts);
});

it("begins with the first price where all of them are asked for", async () => {
  const page = await pageOf("all");
  expect(labelOf(page)).toBe("Floor price and 48 sales in ETH over all time");
  expect(ticksOf(page).length).toBeGreaterThan(1);
});

it("draws a price that would flatten the others at the upper edge, and says so", async () => {
  expect(await pageOf("7")).not.toContain("upper edge");
  const dear = { ...sale("2026-03-04T10:30:00.000Z"), price: 5_000 };
  const page = await pageOf("7", { sales: [dear, ...hourly] });
  expect(page).toContain("1 price above 3 ETH is drawn at the upper edge: 5,000 at most.");
  expect(/<path class="dots beyond" d="M[\d.]+ ([\d.]+)h0"/.exec(page)?.[1]).toBe("0");
  const fall = await pageOf("7", { sales: [dear] });
  // Of few prices none is unusual.
  expect(fall).not.toContain("upper edge");
});

it("is in USD by what the coin did in each interval, and by what each sale was worth", async () => {
  const unpriced = { ...sale("2026-03-04T10:31:00.000Z"), usd: null };
  const page = await pageOf("7", { currency: "usd", sales: [unpriced, ...hourly] });
  expect(labelOf(page)).toBe("Floor price and 48 sales in USD over 7 days");
  const rowsOf = (caption: string) => {
    const [, body = ""] =
      new RegExp(`<caption[^>]*>${caption}</caption>.*?<tbody>(.*?)</tbody>`, "s").exec(page) ?? [];
    return [...body.matchAll(/<tr[^>]*>(.*?)<\/tr>/gs)].map(([, row = ""]) =>
      [...row.matchAll(/<t[dh][^>]*>(.*?)<\/t[dh]>/gs)].map(([, cell]) => cell),
    );
  };
  expect(rowsOf("Floor price in USD")).toEqual([["2026-03-05 08:00", "100", "400", "100", "400"]]);
  expect(new Set(rowsOf("Sales in USD").map(([, , , price]) => price))).toEqual(new Set(["150"]));
});
