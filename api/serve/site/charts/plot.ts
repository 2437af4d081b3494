import { type Html, html } from "#api/serve/html/html.ts";
import { formatNumber } from "../parts/number.ts";
import type { Scale } from "./scale.ts";

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
