import { intervalMs, windowStart } from "#projections/domain/candles.ts";
import { type Html, html } from "#api/serve/html/html.ts";
import { depth } from "#api/serve/v1/collections/depth.ts";
import { floorHistory } from "#api/serve/v1/collections/floor-history.ts";
import { listSales } from "#api/serve/v1/sales/list.ts";
import { depthChart } from "../charts/depth-chart.ts";
import { floorChart } from "../charts/floor-chart.ts";
import type { Visit } from "../page/visit.ts";
import { counted, formatCount } from "../parts/number.ts";
import { panel, tabs } from "../parts/panel.ts";
import { type CollectionRow, filterLink } from "./head.ts";

const windows = ["1", "7", "30"] as const;
/** As many sales as one answer holds. */
const maxSales = "100";

/** Floor and sales over time, and the book by price. */
export async function pricesView(visit: Visit, row: CollectionRow): Promise<Html> {
  const { chainId, read, now, parameter } = visit;
  const collection = row.slug ?? row.address;
  const days = windows.find((one) => one === parameter("days")) ?? "7";
  const query = { chainId: String(chainId) };
  // The chart begins with the first of its intervals; what was sold before it has no place there.
  const interval = days === "1" ? "1h" : "4h";
  const start = windowStart(now.getTime(), Number(days), intervalMs[interval]);
  const since = new Date(start).toISOString();
  const [floor, sales, book] = await Promise.all([
    read(floorHistory, { params: { collection }, query: { ...query, days, interval } }),
    read(listSales, { query: { ...query, collection, since, per_page: maxSales } }),
    read(depth, { params: { collection }, query }),
  ]);
  const { total } = sales.meta ?? { total: 0 };
  const isCut = total > sales.data.length;
  const { listings, bids } = book.data;
  return html`${panel({
    id: "floor",
    title: "Floor and sales",
    aside: tabs(
      "Length of time",
      windows.map((one) => ({
        href: filterLink(row, { view: "prices", days: one }),
        text: counted(Number(one), "day"),
        isCurrent: one === days,
      })),
    ),
    body: html`${isCut && html`<p class="about">Of ${formatCount(total)} sales in this time the newest ${sales.data.length} are drawn and counted in the bars.</p>`}${floorChart(floor.data, sales.data, now)}`,
  })}
${panel({
  id: "depth",
  title: "Depth",
  about: html`What could be bought and sold now, price by price.${(listings.truncated || bids.truncated) && " Only the best prices are drawn; there are more beyond."}`,
  body: depthChart(book.data),
})}`;
}
