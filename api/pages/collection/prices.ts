import type { z } from "zod";
import { type BookDepth, depth } from "#api/v1/collections/depth.ts";
import { type FloorHistory, floorHistory } from "#api/v1/collections/floors.ts";
import { listSales, type Sale } from "#api/v1/sales.ts";
import { intervalMs, windowStart } from "#projections/domain/candles.ts";
import { type Html, html } from "../kit/html.ts";
import { bareAmount, counted, formatCount, formatNumber } from "../kit/number.ts";
import { panel, table, tabs } from "../kit/panel.ts";
import { height, place, plot, roundScale, type Scale, width } from "../kit/plot.ts";
import { marketplaceName } from "../kit/text.ts";
import type { Visit } from "../kit/visit.ts";
import { filterLink, type ShownCollection } from "./head.ts";

const windows = ["1", "7", "30"] as const;
/** As many sales as one answer holds. */
const maxSales = "100";

/** Floor and sales over time, and the book by price. */
export async function pricesView(visit: Visit, row: ShownCollection): Promise<Html> {
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

type History = z.output<typeof FloorHistory>;
type SaleRow = z.output<typeof Sale>;
type Candle = History["candles"][number];

/** Where a time is in the drawing. */
type Axis = { readonly from: number; readonly to: number; readonly at: (time: number) => number };

/** Candles of the floor, sales as dots, and what was paid in each interval below. Gaps stay gaps. */
function floorChart(history: History, sales: readonly SaleRow[], now: Date): Html {
  const { candles, currency, interval, days } = history;
  const lengthMs = intervalMs[interval];
  const from = windowStart(now.getTime(), days, lengthMs);
  const axis = axisOf(from, now.getTime() + 1);
  const priced = sales.filter(({ currency: { symbol } }) => symbol?.endsWith(currency));
  const prices = [...candles.flatMap(({ h, l }) => [h, l]), ...priced.map(({ price }) => price)];
  if (prices.length === 0)
    return html`<p class="empty">No listing and no sale in the last ${days === 1 ? "day" : counted(days, "day")}.</p>`;
  const scale = roundScale(prices);
  const buckets = volumes(priced, from, lengthMs);
  const most = Math.max(...buckets.values(), 0);
  return plot({
    id: "floor-chart",
    label: `Floor price and ${counted(priced.length, "sale")} in ${currency} over ${counted(days, "day")}`,
    scale,
    unit: currency,
    legend: [
      ["candle", "Floor, from open to close"],
      ["dot", "A sale"],
      ["bar-mark", "Paid in each interval"],
    ],
    shapes: [
      ...candles.map((candle) => candleShape(candle, { scale, axis, lengthMs })),
      html`<path class="dots" d="${priced.map((sale) => dotOf(sale, scale, axis)).join("")}"/>`,
    ],
    below: labelsOf(axis),
    volume:
      most > 0
        ? {
            most: formatNumber(most),
            shapes: [...buckets].map(([start, paid]) => barOf(axis, start, lengthMs, paid / most)),
          }
        : undefined,
    table: tablesOf(history, priced),
  });
}

function axisOf(from: number, to: number): Axis {
  return { from, to, at: (time) => (width * (time - from)) / (to - from) };
}

type CandlePlace = { readonly scale: Scale; readonly axis: Axis; readonly lengthMs: number };

function candleShape({ t, o, h, l, c }: Candle, { scale, axis, lengthMs }: CandlePlace): Html {
  const y = (value: number) => place(height * (1 - scale.at(value)));
  const start = Date.parse(t);
  const [left, right] = [axis.at(start), Math.min(axis.at(start + lengthMs), width)];
  const gap = (right - left) * 0.15;
  const top = height * (1 - scale.at(Math.max(o, c)));
  const tall = Math.max(height * (scale.at(Math.max(o, c)) - scale.at(Math.min(o, c))), 1.5);
  const middle = place((left + right) / 2);
  return html`<g class="${c < o ? "falls" : "rises"}" data-at="${place((left + right) / 2 / width)}"><path d="M${middle} ${y(h)}V${y(l)}"/><rect x="${place(left + gap)}" y="${place(top)}" width="${place(Math.max(right - left - 2 * gap, 1))}" height="${place(tall)}"/></g>`;
}

/** A line of no length with round ends: a dot that no stretching changes. */
function dotOf({ price, timestamp }: SaleRow, scale: Scale, axis: Axis): string {
  const x = Math.max(0, Math.min(width, axis.at(Date.parse(timestamp))));
  return `M${place(x)} ${place(height * (1 - scale.at(price)))}h0`;
}

/** What was paid in each interval, by its start. */
function volumes(sales: readonly SaleRow[], from: number, lengthMs: number): Map<number, number> {
  const paid = new Map<number, number>();
  for (const { price, quantity, timestamp } of sales) {
    const start = from + Math.floor((Date.parse(timestamp) - from) / lengthMs) * lengthMs;
    paid.set(start, (paid.get(start) ?? 0) + price * quantity);
  }
  return paid;
}

function barOf(axis: Axis, start: number, lengthMs: number, share: number): Html {
  const [left, right] = [Math.max(axis.at(start), 0), Math.min(axis.at(start + lengthMs), width)];
  const gap = (right - left) * 0.15;
  const tall = Math.max(share * 100, 2);
  return html`<rect class="volume" x="${place(left + gap)}" y="${place(100 - tall)}" width="${place(Math.max(right - left - 2 * gap, 1))}" height="${place(tall)}"/>`;
}

function labelsOf({ from, to }: Axis): string[] {
  const parts = 4;
  const isShort = to - from < 3 * 86_400_000;
  return Array.from({ length: parts + 1 }, (_, index) => {
    const text = new Date(from + ((to - from) * index) / parts).toISOString();
    const shown = isShort ? text.slice(11, 16) : text.slice(5, 10);
    return index === 0 ? `${shown} UTC` : shown;
  });
}

function tablesOf({ candles, currency, interval }: History, sales: readonly SaleRow[]): Html {
  const prices = table(
    candles,
    [
      {
        head: `From (UTC), ${interval}`,
        cell: ({ t }) => t.slice(0, 16).replace("T", " "),
        isHead: true,
      },
      { head: "Open", cell: ({ o }) => String(o), isNumber: true },
      { head: "High", cell: ({ h }) => String(h), isNumber: true },
      { head: "Low", cell: ({ l }) => String(l), isNumber: true },
      { head: "Close", cell: ({ c }) => String(c), isNumber: true },
    ],
    {
      caption: `Floor price in ${currency}`,
      isCaptionShown: true,
      empty: "No listing in this time.",
      keyOf: ({ t }) => t,
    },
  );
  const dots = table(
    sales,
    [
      {
        head: "Sold (UTC)",
        cell: ({ timestamp }) => timestamp.slice(0, 19).replace("T", " "),
        isHead: true,
      },
      { head: "Token", cell: ({ tokenId, urls }) => html`<a href="${urls.token}">#${tokenId}</a>` },
      { head: "Units", cell: ({ quantity }) => quantity, isNumber: true },
      { head: "Price", cell: ({ price }) => String(price), isNumber: true },
    ],
    {
      caption: `Sales in ${currency}`,
      isCaptionShown: true,
      empty: "No sale in this time.",
      keyOf: ({ saleId }) => saleId,
    },
  );
  return html`${prices}${dots}`;
}

type Depth = z.output<typeof BookDepth>;
type Step = { readonly price: number; readonly units: number };

/** Listings cumulated from the lowest price up, offers from the highest down: what is left of the middle buys, right of it sells. */
function depthChart({ listings, bids, currency }: Depth): Html {
  const asks = listings.levels.map(({ price, unitsCumulated }) => ({
    price,
    units: Number(unitsCumulated),
  }));
  const offers = bids.levels.map(({ price, collectionOffers, tokenOffers, criteriaOffers }) => ({
    price,
    units: [collectionOffers, tokenOffers, criteriaOffers].reduce(
      (sum, { unitsCumulated }) => sum + Number(unitsCumulated),
      0,
    ),
  }));
  const all = [...offers, ...asks];
  if (all.length === 0) return html`<p class="empty">Nothing is offered, and nobody bids.</p>`;
  const unit = currency.symbol ?? "";
  const units = roundScale(
    all.map((one) => one.units),
    { withZero: true },
  );
  const prices = roundScale(all.map(({ price }) => price));
  const x = (price: number) => width * prices.at(price);
  const y = (count: number) => height * (1 - units.at(count));
  return plot({
    id: "depth-chart",
    label: `${asks.length} prices of listings and ${offers.length} of offers, in ${unit}`,
    scale: units,
    unit: "units",
    legend: [
      ["bids", "Offers at this price or more"],
      ["asks", "Listings at this price or less"],
    ],
    shapes: [areaOf("bids", offers, 0, x, y), areaOf("asks", asks, width, x, y)],
    below: prices.ticks.map(
      (tick, index) => `${formatNumber(tick)}${index === 0 ? ` ${unit}` : ""}`,
    ),
    table: html`${askTable(listings.levels, unit)}${bidTable(bids.levels, unit)}`,
  });
}

type Place = (value: number) => number;

/** Steps from the best price outwards, on to the chart's edge. */
function areaOf(
  name: string,
  steps: readonly Step[],
  edge: number,
  x: Place,
  y: Place,
): Html | false {
  const [first] = steps;
  if (first === undefined) return false;
  const path = steps.map(({ price, units }) => `H${place(x(price))}V${place(y(units))}`).join("");
  const start = place(x(first.price));
  return html`<path class="${name}" d="M${start} ${height}${path}H${edge}V${height}Z"/>`;
}

function askTable(levels: Depth["listings"]["levels"], unit: string): Html {
  return table(
    levels,
    [
      { head: `Price, ${unit}`, cell: ({ priceWei }) => bareAmount(priceWei, unit), isHead: true },
      { head: "Listings", cell: ({ orders }) => formatCount(orders), isNumber: true },
      { head: "Units", cell: ({ units }) => units, isNumber: true },
      { head: "Units up to here", cell: ({ unitsCumulated }) => unitsCumulated, isNumber: true },
      {
        head: `Cost up to here, ${unit}`,
        cell: ({ weiCumulated }) => bareAmount(weiCumulated, unit),
        isNumber: true,
      },
      {
        head: "Marketplaces",
        cell: ({ marketplaces }) =>
          marketplaces
            .map(({ marketplace, orders }) => `${marketplaceName(marketplace)} ${orders}`)
            .join(", "),
      },
    ],
    { caption: "Listings, lowest price first", isCaptionShown: true, empty: "No listings." },
  );
}

function bidTable(levels: Depth["bids"]["levels"], unit: string): Html {
  return table(
    levels,
    [
      { head: `Price, ${unit}`, cell: ({ priceWei }) => bareAmount(priceWei, unit), isHead: true },
      {
        head: "Offers on the collection",
        cell: ({ collectionOffers }) => collectionOffers.units,
        isNumber: true,
      },
      { head: "On tokens", cell: ({ tokenOffers }) => tokenOffers.units, isNumber: true },
      {
        head: "On traits and lists",
        cell: ({ criteriaOffers }) => criteriaOffers.units,
        isNumber: true,
      },
      {
        head: "On the collection up to here",
        cell: ({ collectionOffers }) => collectionOffers.unitsCumulated,
        isNumber: true,
      },
      {
        head: `Best for a seller, ${unit}`,
        cell: ({ bestSellerNetWei }) => bareAmount(bestSellerNetWei, unit),
        isNumber: true,
      },
    ],
    {
      caption: "Offers, highest price first; figures are units",
      isCaptionShown: true,
      empty: "No offers.",
    },
  );
}
