import { depth } from "#api/v1/collections/depth.ts";
import { floorHistory } from "#api/v1/collections/floors.ts";
import { cryptoHistory } from "#api/v1/crypto-history.ts";
import { listSales } from "#api/v1/sales.ts";
import { chainById } from "#chains/index.ts";
import { intervalMs, windowStart } from "#projections/domain/candles.ts";
import { priceHistoryDays } from "#projections/prices/read-prices.ts";
import { type Html, html } from "../kit/html.ts";
import { coinSymbol, formatCount } from "../kit/number.ts";
import { panel, tabs } from "../kit/panel.ts";
import type { Visit } from "../kit/visit.ts";
import { depthChart } from "./depth-chart.ts";
import { floorChart, inUsd } from "./floor-chart.ts";
import { filterLink, type ShownCollection } from "./head.ts";

/** Lengths of time by the parameter. */
const windows = [
  { name: "1", text: "1 day", days: 1, interval: "1h" },
  { name: "7", text: "7 days", days: 7, interval: "4h" },
  { name: "30", text: "30 days", days: 30, interval: "4h" },
  { name: "90", text: "90 days", days: 90, interval: "1d" },
  { name: "365", text: "1 year", days: 365, interval: "1d" },
  { name: "all", text: "All", days: 3_650, interval: "1d" },
] as const;
/** As far as the endpoint goes back. */
const floorDays = 30;
const [, week] = windows;

/** As many sales as one answer holds. */
const maxSales = "100";

/** Floor and sales over time, and the book by price. */
export async function pricesView(visit: Visit, row: ShownCollection): Promise<Html> {
  const { chainId, read, parameter } = visit;
  const window = windows.find(({ name }) => name === parameter("days")) ?? week;
  const isInUsd = parameter("currency") === "usd";
  const [floor, book] = await Promise.all([
    readFloor(visit, row, { window, isInUsd }),
    read(depth, {
      params: { collection: row.slug ?? row.address },
      query: { chainId: String(chainId) },
    }),
  ]);
  const { listings, bids } = book.data;
  const link = (more: { days?: string; currency?: string }) =>
    filterLink(row, {
      ...{ view: "prices", days: window.name, currency: isInUsd ? "usd" : undefined },
      ...more,
    });
  return html`${panel({
    id: "floor",
    title: "Floor and sales",
    aside: html`${tabs(
      "Length of time",
      windows.map((one) => ({
        href: link({ days: one.name }),
        text: one.text,
        isCurrent: one === window,
      })),
    )}${tabs("Currency of the chart", [
      { href: link({ currency: "" }), text: coinSymbol(chainId), isCurrent: !isInUsd },
      { href: link({ currency: "usd" }), text: "USD", isCurrent: isInUsd },
    ])}`,
    body: floor,
  })}
${panel({
  id: "depth",
  title: "Depth",
  about: html`What could be bought and sold now, price by price.${(listings.truncated || bids.truncated) && " Only the best prices are drawn; there are more beyond."}`,
  body: depthChart(book.data),
})}`;
}

type Choice = { readonly window: (typeof windows)[number]; readonly isInUsd: boolean };

/** The chart, with what of the time it does not show. */
async function readFloor(
  { chainId, read, now }: Visit,
  row: ShownCollection,
  { window, isInUsd }: Choice,
): Promise<Html> {
  const { days, interval, text } = window;
  const chain = { chainId: String(chainId) };
  const collection = row.slug ?? row.address;
  // The chart begins with the first of its intervals; what was sold before it has no place there.
  const start = windowStart(now.getTime(), days, intervalMs[interval]);
  const since = new Date(start).toISOString();
  const coin = { type: chainById(chainId).coin, days: String(Math.min(days, priceHistoryDays)) };
  const [floor, sales, coins] = await Promise.all([
    read(floorHistory, {
      params: { collection },
      query: { ...chain, days: String(Math.min(days, floorDays)), interval },
    }),
    read(listSales, { query: { ...chain, collection, since, per_page: maxSales } }),
    isInUsd ? read(cryptoHistory, { query: { ...chain, ...coin, interval } }) : null,
  ]);
  const { candles, currency } = floor.data;
  const own = sales.data.filter((one) => one.currency.symbol?.endsWith(currency));
  const total = sales.meta?.total ?? 0;
  const isCut = total > sales.data.length;
  const shown = coins === null ? { candles, unit: currency } : inUsd(candles, coins.data.candles);
  const dots = own.flatMap((sale) => {
    const price = isInUsd ? sale.usd : sale.price;
    return price === null ? [] : [{ sale, price }];
  });
  const isWhole = window.name === "all";
  return html`${days > floorDays && html`<p class="about">The floor is known of the last ${floorDays} days.</p>`}${isCut && html`<p class="about">Of ${formatCount(total)} sales in this time the newest ${sales.data.length} are drawn and counted in the bars.</p>`}${floorChart({ ...shown, interval, dots, now: now.getTime(), from: isWhole ? null : start, over: isWhole ? "all time" : text })}`;
}
