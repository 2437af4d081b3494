import type { Reorg, ReorgBlock } from "#projections/log/blocks.ts";
import { type Html, html } from "#api/pages/kit/html.ts";
import { moment } from "#api/pages/kit/number.ts";
import { table } from "#api/pages/kit/panel.ts";
import { shortHex } from "#api/pages/kit/text.ts";

/** Heights that are drawn at most. */
const mostDrawn = 12;
const step = 70;
const [upper, lower] = [40, 110];

/** A reorg as two branches that part after their last common block, with a table of all its blocks. */
export function reorgDrawing(reorg: Reorg, now: Date): Html {
  const { chainId, at, position, retracted, replacedBy } = reorg;
  const numbers = retracted.map(({ number }) => number);
  const [first, last] = [Math.min(...numbers), Math.max(...numbers)];
  const drawn = Array.from(
    { length: Math.min(last - first + 1, mostDrawn) },
    (_, index) => first + index,
  );
  const x = (index: number) => 60 + (index + 1) * step;
  const end = x(drawn.length);
  const has = (blocks: readonly ReorgBlock[], number: number) =>
    blocks.some((one) => one.number === number);
  const label = `Chain ${chainId}: ${retracted.length} blocks from ${first} on left the chain`;
  const key = `${chainId}-${position}`;
  return html`<h3>Chain ${chainId}, ${moment(at.toISOString(), now)}: ${retracted.length} ${retracted.length === 1 ? "block" : "blocks"} from ${first} on</h3>
<svg class="reorg" width="${end}" height="150" viewBox="0 0 ${end} 150" role="img" aria-label="${label}">
<path d="M60 ${upper}H${end}"/><path class="left" d="M60 ${upper}L${x(0)} ${lower}H${x(drawn.length - 1)}"/>
<rect x="46" y="${upper - 12}" width="28" height="24" rx="4"/><text x="60" y="20">${first - 1}</text>
${drawn.map((number, index) => html`<rect class="${has(replacedBy, number) ? "stays" : "empty"}" x="${x(index) - 14}" y="${upper - 12}" width="28" height="24" rx="4"/><text x="${x(index)}" y="20">${number}</text>${has(retracted, number) && html`<rect class="left" x="${x(index) - 14}" y="${lower - 12}" width="28" height="24" rx="4"/>`}`)}
</svg>
<details id="reorg-${key}"><summary>Blocks</summary>${table(
    [
      ...retracted.map((one) => ({ ...one, state: "left the chain" })),
      ...replacedBy.map((one) => ({ ...one, state: "on the chain" })),
    ],
    [
      { head: "Height", cell: ({ number }) => number, isHead: true },
      { head: "Hash", cell: ({ hash }) => html`<code title="${hash}">${shortHex(hash)}</code>` },
      { head: "State", cell: ({ state }) => state },
      {
        head: "Block time (UTC)",
        cell: ({ timestamp }) => timestamp.toISOString().slice(0, 19).replace("T", " "),
      },
    ],
    { caption: `Blocks of the reorg at position ${position}` },
  )}</details>
<p class="quiet">First retraction: fact <a href="/log/${position.toString()}">${position.toString()}</a></p>`;
}
