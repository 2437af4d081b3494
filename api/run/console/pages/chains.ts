import { readReorgs } from "#projections/log/blocks.ts";
import { readSamples } from "#projections/log/operators.ts";
import { type Html, html } from "#api/pages/kit/html.ts";
import { panel, table } from "#api/pages/kit/panel.ts";
import { type ChainSources, readChainSources } from "#api/run/inspection/read-sources.ts";
import { readServiceProgress } from "#api/run/inspection/read-status.ts";
import type { PageContent, Visit } from "../page/visit.ts";
import { chainTable } from "../parts/chain-table.ts";
import { reorgDrawing } from "../parts/reorg-drawing.ts";
import { timeChart } from "../parts/time-chart.ts";

const dayMs = 86_400_000;
const reorgDays = 7;
const mostReorgs = 20;

/** How far the chains are and were, what is indexed of them, and their reorgs. */
export async function chainsPage(visit: Visit): Promise<PageContent> {
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
