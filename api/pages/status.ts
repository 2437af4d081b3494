import type { z } from "zod";
import { type ChainId, chainNames } from "#chains/index.ts";
import { formatProvedShare } from "#projections/log/chain-state.ts";
import type { Status } from "../v1/public-status.ts";
import { status } from "../v1/status.ts";
import { type Html, html } from "./kit/html.ts";
import { pageLink } from "./kit/links.ts";
import { exactTime, formatCount, moment, none } from "./kit/number.ts";
import { panel, type TableColumn, table } from "./kit/panel.ts";
import { plainText } from "./kit/text.ts";
import type { PageContent, Visit } from "./kit/visit.ts";

type ServiceStatus = z.output<typeof Status>;
type ChainStatus = ServiceStatus["chains"][number];

/** Whether what is shown is current and proved: chain by chain, and what is derived from them. */
export async function statusPage({ chainId, read, now }: Visit): Promise<PageContent> {
  const { data } = await read(status, {});
  const body = html`<h1>Status</h1>
${verdict(data)}
${panel({
  id: "chains",
  title: "Chains",
  about:
    "A block is final when the chain's own nodes say so, or at a depth where they do not. Proved are blocks whose logs are those that their header commits to, each the parent of the next.",
  body: table(data.chains, chainColumns(now), {
    caption: "How far each chain is recorded and proved",
    empty: "No chain is read here.",
  }),
})}
${panel({
  id: "added",
  title: "Exchanges and collections that are read",
  body: table(
    data.chains.flatMap((chain) => chain.indexers.map((one) => ({ ...one, chain }))),
    indexerColumns,
    { caption: "What is indexed, and how far", empty: "Nothing is indexed yet." },
  ),
})}
${panel({
  id: "derived",
  title: "What is derived from the log",
  about: html`The log holds ${formatCount(data.logPosition ?? 0)} facts.`,
  body: table(data.projections, projectionColumns, {
    caption: "How far each projection is",
    empty: "Nothing is derived yet.",
  }),
})}`;
  return { title: "Status", body, preview: { canonical: pageLink("/status", { chainId }) } };
}

function verdict({ ready, failing }: ServiceStatus): Html {
  if (ready) return html`<p role="status"><span class="mark good">Everything is current</span></p>`;
  return html`<div class="notice" role="status"><strong>Not everything is current.</strong>
<ul>${failing.map(({ part, message }) => html`<li>${plainText(part)}: ${plainText(message, 300)}</li>`)}</ul></div>`;
}

const nameOf = (chainId: number) => chainNames[chainId as ChainId] ?? `chain ${chainId}`;

const chainColumns = (now: Date): TableColumn<ChainStatus>[] => [
  { head: "Chain", isHead: true, cell: ({ chainId }) => nameOf(chainId) },
  {
    head: "Newest block",
    isNumber: true,
    cell: ({ head }) =>
      head === null
        ? html`no node answers`
        : html`${formatCount(head.number)}<br>${moment(new Date(head.timestamp * 1_000).toISOString(), now)}`,
  },
  {
    head: "Behind",
    isNumber: true,
    cell: ({ lagBlocks }) => (lagBlocks === null ? none : `${formatCount(lagBlocks)} blocks`),
  },
  {
    head: "Final up to",
    isNumber: true,
    cell: ({ finalized }) =>
      finalized === null
        ? none
        : html`${formatCount(finalized.number)}${finalized.saidBy === "depth" && html` <span title="no node serves the finalized block">by depth</span>`}`,
  },
  { head: "History proved", isNumber: true, cell: ({ history }) => provedPart(history) },
  { head: "Repaired", isNumber: true, cell: ({ history }) => repairs(history) },
];

function provedPart(history: ChainStatus["history"]): Html | string {
  if (history === null) return none;
  if (history.share === null) return html`its headers prove nothing`;
  const { share, provedFrom, provedTo } = history;
  return html`${share === 1 ? "all" : formatProvedShare(share)}<br>${formatCount(provedFrom)} to ${formatCount(provedTo)}`;
}

function repairs(history: ChainStatus["history"]): Html | string {
  if (history === null) return none;
  const { repaired, repairedAt, unrepaired } = history;
  const since = repairedAt !== null && exactTime(new Date(repairedAt * 1_000).toISOString());
  return html`${formatCount(repaired)} blocks${since && html`<br>last ${since}`}${unrepaired > 0 && html`<br><strong>${formatCount(unrepaired)} still differ</strong>`}`;
}

type IndexerOfChain = ChainStatus["indexers"][number] & { readonly chain: ChainStatus };

const indexerColumns: TableColumn<IndexerOfChain>[] = [
  {
    head: "Read",
    isHead: true,
    cell: ({ indexer, chain, exchanges }) =>
      html`${nameOf(chain.chainId)}: ${plainText(indexer)}${exchanges.length > 0 && html`<br><span class="quiet">${exchanges.join(", ")}</span>`}`,
  },
  { head: "Collections", isNumber: true, cell: ({ collections }) => formatCount(collections) },
  {
    head: "Up to block",
    isNumber: true,
    cell: ({ indexed }) => (indexed === null ? none : formatCount(indexed)),
  },
  {
    head: "State",
    cell: ({ state, remainingBlocks }) =>
      state === "following"
        ? "follows new blocks"
        : `catching up${remainingBlocks === null ? "" : `, ${formatCount(remainingBlocks)} blocks to go`}`,
  },
];

const projectionColumns: TableColumn<ServiceStatus["projections"][number]>[] = [
  { head: "Projection", isHead: true, cell: ({ name }) => name.replaceAll("_", " ") },
  { head: "Facts to go", isNumber: true, cell: ({ lag }) => formatCount(lag) },
  {
    head: "Behind",
    isNumber: true,
    cell: ({ lagSeconds }) => (lagSeconds === 0 ? none : `${formatCount(Math.ceil(lagSeconds))} s`),
  },
];
