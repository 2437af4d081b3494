import { type Html, html } from "#api/serve/html/html.ts";

type Day = { readonly day: string; readonly requests: number };

const barWidth = 20;
const height = 100;

export const countOf = (requests: number): string => requests.toLocaleString("en-US");

/** Requests per day, as bars and as a table. */
export function usageChart(days: readonly Day[]): Html {
  const most = Math.max(...days.map(({ requests }) => requests), 0);
  const total = days.reduce((sum, { requests }) => sum + requests, 0);
  const first = days[0]?.day ?? "";
  const last = days.at(-1)?.day ?? "";
  if (total === 0) return html`<p class="empty">No requests in the last ${days.length} days.</p>`;
  const about = `Requests per day from ${first} to ${last}: ${countOf(total)} in total, ${countOf(most)} on the busiest day`;
  return html`<figure class="chart">
<div class="most" aria-hidden="true">${countOf(most)}</div>
<svg viewBox="0 0 ${days.length * barWidth} ${height}" preserveAspectRatio="none" role="img" aria-label="${about}">${days.map((day, index) => bar(day, index, most))}</svg>
<figcaption><span>${first}</span><span>${last}</span></figcaption>
</figure>
<p class="hint">Total of ${days.length} days: ${countOf(total)}</p>
${figures(days)}`;
}

/** A bar has a minimum height, so that a day with a single request is visible. */
function bar({ day, requests }: Day, index: number, most: number): Html {
  const size = requests === 0 ? 1 : Math.max(3, Math.round((requests / most) * height));
  return html`<rect class="${requests === 0 ? "none" : "some"}" x="${index * barWidth + 2}" y="${height - size}" width="${barWidth - 4}" height="${size}"><title>${day}: ${countOf(requests)}</title></rect>`;
}

function figures(days: readonly Day[]): Html {
  const used = days.filter(({ requests }) => requests > 0).toReversed();
  return html`<details><summary>As a table</summary>
<table class="figures"><thead><tr><th scope="col">Day (UTC)</th><th scope="col">Requests</th></tr></thead>
<tbody>${used.map(({ day, requests }) => html`<tr><td>${day}</td><td>${countOf(requests)}</td></tr>`)}</tbody></table></details>`;
}
