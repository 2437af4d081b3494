import { type Html, html } from "#api/pages/kit/html.ts";
import { moment } from "#api/pages/kit/number.ts";
import { panel, table } from "#api/pages/kit/panel.ts";
import { shortHex } from "#api/pages/kit/text.ts";
import { type Reorg, type ReorgBlock, readReorgs } from "#projections/log/blocks.ts";
import { readSamples } from "#projections/log/operators.ts";
import {
  type ChainSources,
  readChainSources,
  readServiceProgress,
} from "../reports/read-status.ts";
import type { ConsoleContent, ConsoleVisit } from "./page.ts";
import { chainTable, timeChart } from "./tables.ts";

const dayMs = 86_400_000;
const reorgDays = 7;
const mostReorgs = 20;

/** How far the chains are and were, what is indexed of them, and their reorgs. */
export async function chainsPage(visit: ConsoleVisit): Promise<ConsoleContent> {
  const { db, config, fetchHead, now } = visit;
  const time = now();
  const since = (days: number) => new Date(time.getTime() - days * dayMs);
  const [progress, sources, reorgs, lags] = await Promise.all([
    readServiceProgress(db, config, fetchHead),
    Promise.all(config.chains.map((chain) => readChainSources(db, chain, fetchHead))),
    readReorgs(db, since(reorgDays)),
    Promise.all(
      config.chains.map(async ({ chainId }) => ({
        chainId,
        samples: await readSamples(db, `lag_seconds ${chainId}`, since(1)),
      })),
    ),
  ]);
  const body = [
    html`<h1>Chains</h1>`,
    panel({ id: "progress", title: "How far", body: chainTable(progress.chains) }),
    ...lags.map(({ chainId, samples }) =>
      panel({
        id: `lag-${chainId}`,
        title: `Lag of chain ${chainId}, last day`,
        body: timeChart({
          id: `lag-chart-${chainId}`,
          about: `Seconds that chain ${chainId} was behind its head`,
          unit: "seconds",
          samples,
          empty:
            "A sample is taken every minute while the console runs; there are not two of them yet.",
        }),
      }),
    ),
    panel({ id: "sources", title: "What is indexed", body: sourceTable(sources) }),
    panel({
      id: "reorgs",
      title: `Reorgs of the last ${reorgDays} days`,
      about:
        "Above what the chain has now, below what left it. A block without events is not in the log.",
      body:
        reorgs.length === 0
          ? html`<p class="empty">There was none.</p>`
          : reorgs.slice(0, mostReorgs).map((one) => reorgDrawing(one, time)),
    }),
  ];
  return { title: "Chains", body };
}

const sourceTable = (chains: readonly ChainSources[]): Html =>
  table(
    chains.flatMap(({ chainId, sources }) => sources.map((one) => ({ chainId, ...one }))),
    [
      { head: "Chain", cell: ({ chainId }) => chainId },
      { head: "Source", cell: ({ source }) => source, isHead: true },
      { head: "Indexer", cell: ({ indexer }) => indexer },
      { head: "State", cell: ({ state }) => state.replace("_", " ") },
      { head: "Indexed", cell: ({ indexed }) => indexed ?? "none", isNumber: true },
      {
        head: "Blocks remaining",
        cell: ({ remainingBlocks }) => remainingBlocks ?? "none",
        isNumber: true,
      },
      {
        head: "Seconds remaining",
        cell: ({ remainingSeconds }) => remainingSeconds ?? "none",
        isNumber: true,
      },
    ],
    { caption: "Sources", keyOf: ({ chainId, source }) => `${chainId} ${source}` },
  );

/** Heights that are drawn at most. */
const mostDrawn = 12;
const step = 70;
const [upper, lower] = [40, 110];

/** A reorg as two branches that part after their last common block, with a table of all its blocks. */
function reorgDrawing(reorg: Reorg, now: Date): Html {
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
