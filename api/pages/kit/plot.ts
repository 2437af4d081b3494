import { type Html, html } from "./html.ts";
import { formatNumber, formatShare } from "./number.ts";

/** Units of the drawing: stretched to the place it has, so that only lines keep their width. */
export const width = 1_000;
export const height = 300;

/** A number in the drawing. */
export const place = (value: number): string => String(Math.round(value * 100) / 100);

type Plot = {
  readonly id: string;
  /** What the drawing shows, in one sentence. */
  readonly label: string;
  readonly shapes: readonly (Html | false)[];
  readonly scale: Scale;
  readonly unit: string;
  /** Texts below the drawing, at even distances. */
  readonly below: readonly (Html | string)[];
  readonly legend?: readonly (readonly [className: string, text: string])[];
  /** The same as a table. */
  readonly table: Html;
  /** A second drawing under the first, with its own label. */
  readonly volume?: { readonly shapes: readonly Html[]; readonly most: string } | undefined;
};

/**
 * A chart drawn on the server. Texts are HTML beside the drawing, at the even distances of the ticks, so that they have
 * their own size on every screen.
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
<div class="axis" aria-hidden="true">${scale.ticks.toReversed().map((tick) => html`<span>${formatNumber(tick)}</span>`)}</div>
<div class="drawing"><svg viewBox="0 0 ${width} ${height}" preserveAspectRatio="none" role="img" aria-label="${label}">
<g class="grid">${scale.ticks.map((tick) => html`<path d="M0 ${place(height * (1 - scale.at(tick)))}H${width}"/>`)}</g>
${shapes}</svg></div>
${
  volume !== undefined &&
  html`<div class="axis small" aria-hidden="true"><span>${volume.most}</span><span>0</span></div>
<div class="drawing small"><svg viewBox="0 0 ${width} 100" preserveAspectRatio="none" aria-hidden="true">${volume.shapes}</svg></div>`
}
<div class="unit" aria-hidden="true">${unit}</div>
<div class="below" aria-hidden="true">${below.map((text) => html`<span>${text}</span>`)}</div>
</div>
<p class="reading" aria-live="off"></p>
<details class="data"><summary>As a table</summary>
${table}</details>
</figure>`;
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
