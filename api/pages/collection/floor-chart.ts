import type { z } from "zod";
import type { FloorHistory } from "#api/v1/collections/floors.ts";
import type { Sale } from "#api/v1/sales.ts";
import { intervalMs } from "#projections/domain/candles.ts";
import { type Html, html } from "../kit/html.ts";
import { counted, formatNumber } from "../kit/number.ts";
import { table } from "../kit/panel.ts";
import {
  height,
  markAt,
  place,
  plot,
  roundScale,
  type Scale,
  timeTicks,
  upperLimit,
  width,
} from "../kit/plot.ts";

type Candle = z.output<typeof FloorHistory>["candles"][number];
type SaleRow = z.output<typeof Sale>;
type Dot = { readonly sale: SaleRow; readonly price: number };

type FloorSeries = {
  readonly candles: readonly Candle[];
  readonly dots: readonly Dot[];
  /** Of all prices. */
  readonly unit: string;
  readonly interval: keyof typeof intervalMs;
  /** Null: it begins with what is shown first. */
  readonly from: number | null;
  readonly now: number;
  /** The time in words. */
  readonly over: string;
};

/**
 * A floor in USD: what it opened and closed at, by what the coin did in the same interval. How high it was in between is
 * not known, as neither tells when. Intervals without a price of the coin are left out.
 */
export function inUsd(candles: readonly Candle[], coins: readonly Candle[]) {
  const coinAt = new Map(coins.map((one) => [one.t, one]));
  return {
    unit: "USD",
    candles: candles.flatMap(({ t, o, c }) => {
      const coin = coinAt.get(t);
      if (coin === undefined) return [];
      const [open, close] = [o * coin.o, c * coin.c].map(toCents);
      if (open === undefined || close === undefined) return [];
      return [{ t, o: open, h: Math.max(open, close), l: Math.min(open, close), c: close }];
    }),
  };
}

const toCents = (usd: number): number => Math.round(usd * 100) / 100;

/** Where a time is in the drawing. */
type Axis = { readonly from: number; readonly to: number; readonly at: (time: number) => number };

/** Where times and prices are. */
type Frame = {
  readonly axis: Axis;
  readonly scale: Scale;
  /** From the top, from 0 to 1; what is above the scale is at its upper edge. */
  readonly level: (price: number) => number;
  readonly lengthMs: number;
};

/** Candles of the floor, sales as dots, and what was paid in each interval below. Gaps stay gaps. */
export function floorChart(series: FloorSeries): Html {
  const { candles, dots, unit, interval, over } = series;
  const prices = [...candles.flatMap(({ h, l }) => [h, l]), ...dots.map(({ price }) => price)];
  if (prices.length === 0)
    return html`<p class="empty">No listing and no sale in ${over === "all time" ? over : `the last ${over.replace(/^1 /, "")}`}.</p>`;
  const frame = frameOf(series, prices);
  const { axis, scale } = frame;
  const chart = plot({
    id: "floor-chart",
    label: `Floor price and ${counted(dots.length, "sale")} in ${unit} over ${over}`,
    scale,
    unit,
    legend: [
      ["candle", "Floor, from open to close"],
      ["dot", "A sale"],
      ["bar-mark", "Paid in each interval"],
    ],
    shapes: [
      ...candles.map((candle) => candleShape(candle, frame)),
      ...candles.map(({ t }) => markAt(middleOf(t, frame) / width)),
      ...dotShapes(dots, frame),
    ],
    below: timeTicks(axis.from, axis.to),
    volume: volumeOf(dots, frame),
    table: html`${candleTable(candles, unit, interval)}${saleTable(dots, unit)}`,
  });
  return html`${outlierNote(prices, scale, unit)}${chart}`;
}

function frameOf(series: FloorSeries, prices: readonly number[]): Frame {
  const lengthMs = intervalMs[series.interval];
  const axis = axisOf(series.from ?? firstOf(series), series.now + 1);
  const limit = upperLimit(prices);
  const scale = roundScale(prices.filter((price) => price <= limit));
  return { axis, scale, lengthMs, level: (price) => 1 - Math.min(1, scale.at(price)) };
}

function outlierNote(prices: readonly number[], { to }: Scale, unit: string): Html | false {
  const above = prices.filter((price) => price > to);
  const verb = above.length === 1 ? "is" : "are";
  return (
    above.length > 0 &&
    html`<p class="about">${counted(above.length, "price")} above ${formatNumber(to)} ${unit} ${verb} drawn at the upper edge: ${formatNumber(Math.max(...above))} at most.</p>`
  );
}

/** Lines of no length with round ends, which no stretching changes, and a mark for each. */
function dotShapes(dots: readonly Dot[], { axis, level, scale }: Frame): (Html | false)[] {
  const spots = dots.map(({ sale, price }) => ({
    x: axis.at(Date.parse(sale.timestamp)),
    y: level(price),
    isAbove: price > scale.to,
  }));
  const pathOf = (isAbove: boolean) =>
    spots
      .filter((spot) => spot.isAbove === isAbove)
      .map(({ x, y }) => `M${place(x)} ${place(height * y)}h0`)
      .join("");
  const above = pathOf(true);
  return [
    html`<path class="dots" d="${pathOf(false)}"/>`,
    above !== "" && html`<path class="dots beyond" d="${above}"/>`,
    ...spots.map(({ x, y }) => markAt(x / width, y)),
  ];
}

const firstOf = ({ candles, dots, now, interval }: FloorSeries): number =>
  Math.min(
    ...candles.map(({ t }) => Date.parse(t)),
    ...dots.map(({ sale }) => Date.parse(sale.timestamp)),
    now - intervalMs[interval],
  );

function axisOf(from: number, to: number): Axis {
  return {
    ...{ from, to },
    at: (time) => Math.max(0, Math.min(width, (width * (time - from)) / (to - from))),
  };
}

const middleOf = (t: string, { axis, lengthMs }: Frame): number =>
  (axis.at(Date.parse(t)) + axis.at(Date.parse(t) + lengthMs)) / 2;

function candleShape({ t, o, h, l, c }: Candle, frame: Frame): Html {
  const { axis, level, lengthMs } = frame;
  const y = (value: number) => place(height * level(value));
  const start = Date.parse(t);
  const [left, right] = [axis.at(start), axis.at(start + lengthMs)];
  const gap = (right - left) * 0.15;
  const top = height * level(Math.max(o, c));
  const tall = Math.max(height * level(Math.min(o, c)) - top, 1.5);
  return html`<g class="${c < o ? "falls" : "rises"}"><path d="M${place(middleOf(t, frame))} ${y(h)}V${y(l)}"/><rect x="${place(left + gap)}" y="${place(top)}" width="${place(Math.max(right - left - 2 * gap, 1))}" height="${place(tall)}"/></g>`;
}

/** What was paid in each interval as bars, where anything was. */
function volumeOf(dots: readonly Dot[], { axis, lengthMs }: Frame) {
  const paid = new Map<number, number>();
  for (const { sale, price } of dots) {
    const start = Math.floor((Date.parse(sale.timestamp) - axis.from) / lengthMs);
    paid.set(start, (paid.get(start) ?? 0) + price * sale.quantity);
  }
  const most = Math.max(...paid.values(), 0);
  if (most === 0) return undefined;
  const shapes = [...paid].map(([index, sum]) => {
    const start = axis.from + index * lengthMs;
    return barOf(axis.at(start), axis.at(start + lengthMs), sum / most);
  });
  return { most: formatNumber(most), shapes };
}

function barOf(left: number, right: number, share: number): Html {
  const gap = (right - left) * 0.15;
  const tall = Math.max(share * 100, 2);
  return html`<rect class="volume" x="${place(left + gap)}" y="${place(100 - tall)}" width="${place(Math.max(right - left - 2 * gap, 1))}" height="${place(tall)}"/>`;
}

function candleTable(candles: readonly Candle[], unit: string, interval: string): Html {
  return table(
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
      caption: `Floor price in ${unit}`,
      isCaptionShown: true,
      empty: "No listing in this time.",
      keyOf: ({ t }) => t,
    },
  );
}

function saleTable(dots: readonly Dot[], unit: string): Html {
  return table(
    dots,
    [
      {
        head: "Sold (UTC)",
        cell: ({ sale }) => sale.timestamp.slice(0, 19).replace("T", " "),
        isHead: true,
      },
      {
        head: "Token",
        cell: ({ sale }) => html`<a href="${sale.urls.token}">#${sale.tokenId}</a>`,
      },
      { head: "Units", cell: ({ sale }) => sale.quantity, isNumber: true },
      { head: "Price", cell: ({ price }) => String(price), isNumber: true },
    ],
    {
      caption: `Sales in ${unit}`,
      isCaptionShown: true,
      empty: "No sale in this time.",
      keyOf: ({ sale }) => sale.saleId,
    },
  );
}
