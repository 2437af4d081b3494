import type { z } from "zod";
import { intervalMs, windowStart } from "#projections/domain/candles.ts";
import { type Html, html } from "#api/serve/html/html.ts";
import type { FloorHistory } from "#api/serve/v1/collections/floor-history.ts";
import type { Sale } from "#api/serve/views/sale.ts";
import { counted, formatNumber } from "../parts/number.ts";
import { table } from "../parts/table.ts";
import { height, place, plot, width } from "./plot.ts";
import { roundScale, type Scale } from "./scale.ts";

type History = z.output<typeof FloorHistory>;
type SaleRow = z.output<typeof Sale>;
type Candle = History["candles"][number];

/** Where a time is in the drawing. */
type Axis = { readonly from: number; readonly to: number; readonly at: (time: number) => number };

/** Candles of the floor, sales as dots, and what was paid in each interval below. Gaps stay gaps. */
export function floorChart(history: History, sales: readonly SaleRow[], now: Date): Html {
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

type Place = { readonly scale: Scale; readonly axis: Axis; readonly lengthMs: number };

function candleShape({ t, o, h, l, c }: Candle, { scale, axis, lengthMs }: Place): Html {
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
