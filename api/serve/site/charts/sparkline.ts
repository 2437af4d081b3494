import { type Html, html } from "#api/serve/html/html.ts";
import { formatNumber } from "../parts/number.ts";

type Point = { readonly t: string; readonly c: number };

/** The line of a price; nothing where there are fewer than two points. `about` names what it is of. */
export function sparkline(points: readonly Point[], about: string): Html {
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined || points.length < 2) {
    return html`<span class="none" aria-hidden="true">–</span><span class="unseen">no line yet</span>`;
  }
  const times = points.map(({ t }) => Date.parse(t));
  const [from, to] = [Math.min(...times), Math.max(...times)];
  const prices = points.map(({ c }) => c);
  const [low, high] = [Math.min(...prices), Math.max(...prices)];
  const at = points.map(({ c }, index) => {
    const x = (100 * ((times[index] ?? from) - from)) / (to - from || 1);
    const y = 26 - (24 * (c - low)) / (high - low || 1);
    return `${toTenth(x)} ${toTenth(high === low ? 14 : y)}`;
  });
  const tone = last.c < first.c ? "falls" : "rises";
  const text = `${about}: ${formatNumber(first.c)} to ${formatNumber(last.c)}`;
  return html`<svg class="spark ${tone}" viewBox="0 0 100 28" preserveAspectRatio="none" role="img" aria-label="${text}"><title>${text}</title><path d="M${at.join("L")}"/></svg>`;
}

/** A tenth of a pixel is enough; a market page has thousands of points. */
const toTenth = (value: number): number => Math.round(10 * value) / 10;
