import { type Html, html } from "./html.ts";
import { formatNumber, formatShare } from "./number.ts";

/** Units of the drawing: stretched to the place it has, so that only lines keep their width. */
export const width = 1_000;
export const height = 300;

/** A number in the drawing. */
export const place = (value: number): string => String(Math.round(value * 100) / 100);

/** A text at its place on an axis, from 0 to 1. */
type PlotTick = { readonly at: number; readonly text: string };

type Plot = {
  readonly id: string;
  /** What the drawing shows, in one sentence. */
  readonly label: string;
  readonly shapes: readonly (Html | false)[];
  readonly scale: Scale;
  readonly unit: string;
  /** Texts below the drawing. */
  readonly below: readonly PlotTick[];
  readonly legend?: readonly (readonly [className: string, text: string])[];
  /** The same as a table. */
  readonly table: Html;
  /** A second drawing under the first, with its own label. */
  readonly volume?: { readonly shapes: readonly Html[]; readonly most: string } | undefined;
};

/**
 * A chart drawn on the server. Texts beside the drawing are HTML at the even distances of the ticks, those below it of a
 * drawing that is not stretched, so that they have their own size on every screen. The script shows the row of the tables
 * whose mark is nearest to the pointer: marks (`markAt`) are in the order of the rows.
 */
export function plot({
  id,
  label,
  shapes,
  scale,
  unit,
  below,
  legend = [],
  table,
  volume,
}: Plot): Html {
  return html`<figure class="plot" id="${id}">
${legend.length > 0 && html`<ul class="legend">${legend.map(([name, text]) => html`<li class="${name}">${text}</li>`)}</ul>`}
<div class="frame">
<div class="axis" aria-hidden="true">${scale.ticks.toReversed().map((tick) => html`<span>${tickText(tick, scale)}</span>`)}</div>
<div class="drawing"><svg viewBox="0 0 ${width} ${height}" preserveAspectRatio="none" role="img" aria-label="${label}">
<g class="grid">${scale.ticks.map((tick) => html`<path d="M0 ${place(height * (1 - scale.at(tick)))}H${width}"/>`)}${below.map(({ at }) => html`<path d="M${place(width * at)} 0V${height}"/>`)}</g>
${shapes}</svg><p class="reading" aria-live="off"></p></div>
${
  volume !== undefined &&
  html`<div class="axis small" aria-hidden="true"><span>${volume.most}</span><span>0</span></div>
<div class="drawing small"><svg viewBox="0 0 ${width} 100" preserveAspectRatio="none" aria-hidden="true">${volume.shapes}</svg></div>`
}
<div class="unit" aria-hidden="true">${unit}</div>
<svg class="below" aria-hidden="true">${below.map(textBelow)}</svg>
</div>
<details class="data"><summary>As a table</summary>
${table}</details>
</figure>`;
}

/** At the ends the text is within the drawing. */
function textBelow({ at, text }: PlotTick): Html {
  const inner = at > 0.94 ? "end" : "middle";
  const anchor = at < 0.06 ? "start" : inner;
  return html`<text x="${place(100 * at)}%" y="1em" text-anchor="${anchor}">${text}</text>`;
}

/** Where the row of a table is in the drawing, from 0 to 1; `level`, from the top: of what is a point. */
export const markAt = (at: number, level?: number): Html =>
  html`<g data-at="${thousandth(at)}"${level !== undefined && html` data-level="${thousandth(level)}"`}/>`;

const thousandth = (value: number): number => Math.round(1_000 * value) / 1_000;

/** As many digits as the distance of the ticks needs. */
function tickText(tick: number, { ticks: [first = 0, second = 1] }: Scale): string {
  const digits = 1 - Math.floor(Math.log10(second - first));
  if (Math.abs(tick) >= 1e15 || digits > 18) return formatNumber(tick);
  return tick.toLocaleString("en-US", { maximumFractionDigits: Math.max(0, digits) });
}

/** Ticks of an axis of amounts below a drawing; the first has the unit. */
export const amountTicks = (scale: Scale, unit: string): PlotTick[] =>
  scale.ticks.map((tick, index) => ({
    at: scale.at(tick),
    text: `${tickText(tick, scale)}${index === 0 ? ` ${unit}` : ""}`,
  }));

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const timeSteps = [1, 2, 3, 6, 12].map((hours) => hours * hourMs);
const daySteps = [1, 2, 7].map((days) => days * dayMs);
const mostTimes = 5;

/** Round times of an axis in UTC: hours, days, Mondays or months. */
export function timeTicks(from: number, to: number): PlotTick[] {
  const step = [...timeSteps, ...daySteps].find((one) => (to - from) / one <= mostTimes);
  const times = step === undefined ? monthsWithin(from, to) : multiplesOf(step, from, to);
  const ticks = times.map((time) => ({
    at: (time - from) / (to - from),
    text: timeText(new Date(time), step),
  }));
  const [first, ...rest] = ticks;
  return first === undefined
    ? [{ at: 0, text: `${new Date(from).toISOString().slice(0, 16).replace("T", " ")} UTC` }]
    : [{ ...first, text: `${first.text} UTC` }, ...rest];
}

/** Weeks begin on Mondays: the epoch was a Thursday. */
function multiplesOf(step: number, from: number, to: number): number[] {
  const offset = step === 7 * dayMs ? 4 * dayMs : 0;
  const first = Math.ceil((from - offset) / step) * step + offset;
  return Array.from(
    { length: Math.max(0, Math.floor((to - first) / step) + 1) },
    (_, index) => first + index * step,
  );
}

/** The first of months, so many apart that there are few. */
function monthsWithin(from: number, to: number): number[] {
  const apart = [1, 2, 3, 6, 12].find((one) => (to - from) / (one * 30 * dayMs) <= mostTimes) ?? 12;
  const start = new Date(from);
  const first = Math.ceil((start.getUTCMonth() + 1) / apart) * apart;
  return Array.from({ length: 2 * mostTimes }, (_, index) =>
    Date.UTC(start.getUTCFullYear(), first + index * apart, 1),
  ).filter((time) => time >= from && time <= to);
}

const textsOf = (options: Intl.DateTimeFormatOptions) =>
  new Intl.DateTimeFormat("en-US", { ...options, timeZone: "UTC" });
const weekdays = textsOf({ weekday: "short" });
const days = textsOf({ month: "short", day: "numeric" });
const months = textsOf({ month: "short", year: "numeric" });

function timeText(time: Date, step: number | undefined): string {
  if (step === undefined) return months.format(time);
  if (step > 2 * dayMs) return days.format(time);
  if (time.getTime() % dayMs !== 0) return time.toISOString().slice(11, 16);
  return `${weekdays.format(time)} ${time.getUTCDate()}`;
}

/** An axis from `from` to `to` with ticks at even distances. */
export type Scale = {
  readonly from: number;
  readonly to: number;
  /** From the lowest to the highest. */
  readonly ticks: readonly number[];
  /** Where a value is, from 0 to 1. */
  readonly at: (value: number) => number;
};

const steps = [1, 2, 2.5, 5, 10];
const wantedTicks = 4;

/** A scale whose ends are ticks, around all values. */
export function roundScale(values: readonly number[], { withZero = false } = {}): Scale {
  const all = values.filter(Number.isFinite);
  const low = Math.min(...all, ...(withZero ? [0] : []));
  const high = Math.max(...all, ...(withZero ? [0] : []));
  if (all.length === 0) return scaleOf(0, 1, 1);
  const span = high - low || Math.abs(high) || 1;
  const size = 10 ** Math.floor(Math.log10(span / wantedTicks));
  const step = size * (steps.find((one) => span / wantedTicks <= one * size) ?? 10);
  const from = Math.floor(low / step) * step;
  const to = Math.ceil(high / step) * step;
  return scaleOf(from, to > from ? to : from + step, step);
}

function scaleOf(from: number, to: number, step: number): Scale {
  const count = Math.round((to - from) / step);
  const ticks = Array.from({ length: count + 1 }, (_, index) => from + index * step);
  return { from, to, ticks, at: (value) => (value - from) / (to - from) };
}

const fewest = 8;

/**
 * Values above it would flatten all others: three times what nine of ten are at most, where there are enough to tell.
 * Infinite: there are none.
 */
export function upperLimit(values: readonly number[]): number {
  if (values.length < fewest) return Infinity;
  const sorted = values.toSorted((a, b) => a - b);
  const usual = sorted[Math.ceil(sorted.length * 0.9) - 1] ?? Infinity;
  return 3 * usual;
}

/** A part of a whole as a bar, beside its figure. */
export function shareBar(share: number): Html {
  const size = Math.round(1_000 * Math.min(1, Math.max(0, share))) / 10;
  return html`<svg class="share" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true"><rect width="${size}" height="8"/></svg>`;
}

type Part = { readonly kind: string; readonly text: string; readonly share: number };

/** How a whole is divided. The parts are described by the list below it. */
export function splitBar(parts: readonly Part[], label: string): Html {
  let at = 0;
  const shapes = parts.map(({ kind, text, share }) => {
    const x = at;
    at += 1_000 * share;
    return html`<rect class="${kind}" x="${x.toFixed(2)}" width="${(1_000 * share).toFixed(2)}" height="24"><title>${text}: ${formatShare(share)}</title></rect>`;
  });
  return html`<svg class="split" viewBox="0 0 1000 24" preserveAspectRatio="none" role="img" aria-label="${label}">${shapes}</svg>`;
}
