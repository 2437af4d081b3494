import { type Html, html } from "#api/serve/html/html.ts";
import { formatShare } from "../parts/number.ts";

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
