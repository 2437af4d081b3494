import type { z } from "zod";
import { type ChainId, chainNames } from "#chains/index.ts";
import { formatProvedShare } from "#projections/log/chain-state.ts";
import { listActivity } from "../v1/activity.ts";
import { type Collection, listCollections } from "../v1/collections/collections.ts";
import { floorLines } from "../v1/collections/floors.ts";
import { status } from "../v1/status.ts";
import { activityKinds, activityTable, chosenKind, liveSwitch } from "./kit/activity-table.ts";
import { type Html, html } from "./kit/html.ts";
import { pageLink } from "./kit/links.ts";
import { picture } from "./kit/media.ts";
import { mergedPage } from "./kit/merged-list.ts";
import { amount, change, coinSymbol, formatCount, formatNumber, none } from "./kit/number.ts";
import { nextPage, panel, table, tabs } from "./kit/panel.ts";
import { nameOr, shortHex } from "./kit/text.ts";
import type { PageContent, Visit } from "./kit/visit.ts";

const perPage = 20;

/** The market of a chain, or of all: collections by what was traded, and what happens now. */
export async function marketPage(visit: Visit): Promise<PageContent> {
  const { listed, read, parameter, now } = visit;
  const period = windows.find((one) => one === parameter("period")) ?? "24h";
  const sort = sorts.find((one) => one === parameter("sort")) ?? "volume";
  const excludesWash = parameter("exclude_wash") === "true";
  const ranked = { period, sort, exclude_wash: excludesWash ? "true" : undefined };
  const [{ rows, next }, recent, progress, proofs] = await Promise.all([
    mergedPage({
      ...{ chains: listed, cursor: parameter("cursor"), perPage },
      read: (one, slice) =>
        read(listCollections, { query: { chainId: String(one), ...ranked, ...slice } }),
      rankOf: (row) => rankOf(row, { period, sort, excludesWash }),
    }),
    newestActivity(visit, { perPage: 12 }),
    Promise.all(listed.map((one) => progressNote(visit, one))),
    Promise.all(listed.map((one) => proofNote(visit, one))),
  ]);
  const lines = await floorLinesOf(visit, rows);
  const { choice, name } = choiceOn(visit);
  const link = (more: Record<string, string | undefined>) =>
    pageLink("/", { chainId: choice, ...ranked, ...more });
  const body = html`<h1>NFTs on ${name}</h1>
${progress}
${panel({
  id: "collections",
  title: "Collections",
  aside: tabs(
    "Length of time",
    windows.map((one) => ({ href: link({ period: one }), text: one, isCurrent: one === period })),
  ),
  body: html`${washSwitch(excludesWash, link)}${ranking(rows, lines, { period, sort, link, listed })}${nextPage(next && link({ cursor: next }))}`,
})}
${panel({
  id: "activity",
  title: "Now",
  aside: html`${liveSwitch}<a href="${pageLink("/activity", { chainId: choice })}">All activity</a>`,
  body: activityTable(recent.rows, {
    ...{ now, caption: "Newest activity", isLive: true, hasChains: listed.length > 1 },
  }),
})}
${proofs}`;
  return { title: `NFTs on ${name}`, body, live: {} };
}

/** What the page shows, for its links and its title. */
function choiceOn({ listed, chainId }: Visit) {
  return listed.length > 1
    ? { choice: "all" as const, name: "all chains" }
    : { choice: chainId, name: chainNames[chainId] };
}

type Ranked = {
  readonly period: (typeof windows)[number];
  readonly sort: Sort;
  readonly excludesWash: boolean;
};

/** What collections of different chains are compared by: money in USD. */
function rankOf(
  { stats }: RankedCollection,
  { period, sort, excludesWash }: Ranked,
): number | null {
  if (sort === "floor") return stats.floor === null ? 0 : stats.floor.usd;
  if (sort === "change") return stats.change[period];
  if (sort === "sales") return stats.sales[period] ?? 0;
  if (sort !== "volume") return stats[sort];
  const usd = stats.volumeUsd[period] ?? null;
  const [volume, wash] = [stats.volume[period] ?? 0, stats.washVolume[period] ?? 0];
  return usd === null || !excludesWash || volume === 0 ? usd : usd * (1 - wash / volume);
}

type ActivitySlice = {
  readonly perPage: number;
  readonly type?: string;
  readonly wallet?: string;
  readonly cursor?: string;
};

/** Of the chains that the page shows. */
export const newestActivity = (
  { listed, read }: Visit,
  { perPage, type = "", wallet, cursor = "" }: ActivitySlice,
) =>
  mergedPage({
    ...{ chains: listed, cursor, perPage },
    read: (one, slice) =>
      read(listActivity, {
        query: { chainId: String(one), type: type || undefined, wallet, ...slice },
      }),
    rankOf: ({ timestamp }) => Date.parse(timestamp),
  });

/** In the order of the rows. */
async function floorLinesOf(
  { listed, read }: Visit,
  rows: readonly RankedCollection[],
): Promise<Line[]> {
  const linesOn = async (one: ChainId) => {
    const collections = rows.filter(({ chainId }) => chainId === one).map(({ address }) => address);
    if (collections.length === 0) return [];
    const query = { chainId: String(one), collections: collections.join(), days: "7" };
    const { data } = await read(floorLines, { query });
    return data.map(({ address, points }): [string, Line] => [`${one} ${address}`, points]);
  };
  const lines = new Map((await Promise.all(listed.map(linesOn))).flat());
  return rows.map(({ chainId, address }) => lines.get(`${chainId} ${address}`) ?? []);
}

type RankedCollection = z.output<typeof Collection>;
type Line = readonly { readonly t: string; readonly c: number }[];

const windows = ["24h", "7d", "30d"] as const;
const sorts = ["volume", "floor", "sales", "listed", "supply", "holders", "change"] as const;
type Sort = (typeof sorts)[number];

type Link = (more: Record<string, string | undefined>) => string;

type Ranking = {
  readonly listed: readonly ChainId[];
  readonly period: (typeof windows)[number];
  readonly sort: Sort;
  readonly link: Link;
};

/** Whether trades that look like those of one person with themselves count in the order. */
const washSwitch = (isExcluded: boolean, link: Link): Html =>
  tabs("Trades that count in the order", [
    { href: link({ exclude_wash: undefined }), text: "All trades", isCurrent: !isExcluded },
    { href: link({ exclude_wash: "true" }), text: "Without wash trades", isCurrent: isExcluded },
  ]);

/** Collections with what was traded in the period, and how much of it looks like wash trades. */
function ranking(
  rows: readonly RankedCollection[],
  lines: readonly Line[],
  options: Ranking,
): Html {
  const { listed, period, link } = options;
  const sortable = (sort: Sort, text: string) => {
    const isSorted = sort === options.sort;
    const mark = isSorted && html` <span aria-hidden="true">↓</span>`;
    const current = isSorted && html` aria-current="true"`;
    return {
      isSorted,
      label: text,
      head: html`<a href="${link({ sort })}"${current}>${text}${mark}</a>`,
    };
  };
  return table(
    rows.map((row, index) => ({ ...row, line: lines[index] ?? [] })),
    [
      { head: "Collection", cell: nameCell, isHead: true },
      ...(listed.length > 1 ? [chainColumn] : []),
      {
        ...sortable("volume", `Volume ${period}`),
        isNumber: true,
        cell: ({ chainId, stats }) =>
          amount({
            wei: stats.volumeWei[period],
            symbol: coinSymbol(chainId),
            usd: stats.volumeUsd[period] ?? null,
          }),
      },
      {
        head: "Wash volume",
        isNumber: true,
        isMinor: true,
        cell: ({ chainId, stats }) =>
          (stats.washSales[period] ?? 0) === 0
            ? none
            : amount({ wei: stats.washVolumeWei[period], symbol: coinSymbol(chainId) }),
      },
      {
        ...sortable("floor", "Floor"),
        isNumber: true,
        cell: ({ chainId, stats: { floor } }) =>
          amount({
            wei: floor?.priceWei,
            symbol: floor?.currency ?? coinSymbol(chainId),
            usd: floor?.usd,
          }),
      },
      {
        ...sortable("change", "Change"),
        isNumber: true,
        cell: ({ stats }) => change(stats.change[period]),
      },
      {
        ...sortable("sales", "Sales"),
        isNumber: true,
        cell: ({ stats }) => formatCount(stats.sales[period] ?? 0),
      },
      {
        ...sortable("listed", "Listed"),
        isNumber: true,
        isMinor: true,
        cell: ({ stats }) => formatCount(stats.listed),
      },
      {
        ...sortable("holders", "Holders"),
        isNumber: true,
        isMinor: true,
        cell: ({ stats }) => formatCount(stats.holders),
      },
      {
        head: "Floor, last week",
        isPlain: true,
        isNumber: true,
        cell: ({ line }) => sparkline(line, "Floor of the last week"),
      },
    ],
    {
      caption: `Collections by ${options.sort}`,
      keyOf: ({ address }) => address,
      empty: "No collection is known yet.",
    },
  );
}

const chainColumn = {
  head: "Chain",
  cell: ({ chainId }: RankedCollection) => chainNames[chainId],
  isPlain: true,
};

function nameCell({ chainId, slug, address, name, media, verified, urls }: RankedCollection): Html {
  return html`<span class="named">${picture({ chainId, contract: address, imageUrl: media.imageUrl }, "", "row")}<span><a href="${urls.collection}">${nameOr(name, slug === null || slug === address ? shortHex(address) : slug)}</a>${verified && html` <span class="mark good" title="verified">✓<span class="unseen">verified</span></span>`}</span></span>`;
}

type Point = { readonly t: string; readonly c: number };

/** The line of a price; nothing where there are fewer than two points. `about` names what it is of. */
function sparkline(points: readonly Point[], about: string): Html {
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

/** What is not current yet, in words, while an installation is empty or catching up; nothing when it is current. */
async function progressNote({ read }: Visit, chainId: ChainId): Promise<Html | false> {
  const { data } = await read(status, {});
  const chain = data.chains.find((one) => one.chainId === chainId);
  const name = chainNames[chainId];
  if (data.logPosition === null || data.logPosition === 0) {
    return note(
      `${name} is being read for the first time`,
      "Blocks are fetched from the node and nothing is derived from them yet. Collections appear here as soon as the first events are recorded.",
    );
  }
  if (chain === undefined || chain.indexed === null) {
    return note(
      `${name} is not being read now`,
      `What was recorded before is shown${chain?.recorded ? `, up to block ${formatCount(chain.recorded.number)}` : ""}. The indexer starts, or waits for its node.`,
    );
  }
  const lag = chain.lagBlocks ?? 0;
  const behind = data.projections.reduce((most, one) => Math.max(most, one.lag), 0);
  if (lag > maxLagBlocks) {
    return note(
      `${name} is catching up: ${formatCount(lag)} blocks to go`,
      `Shown is the market as of block ${formatCount(chain.indexed.number)}. Nothing has to be done; figures grow until the newest block is reached.`,
    );
  }
  if (behind > maxLagFacts) {
    return note(
      `Figures are being derived: ${formatCount(behind)} events to go`,
      "All blocks are recorded; the pages follow in a moment.",
    );
  }
  return false;
}

/** How far down the chain's history is proved, for those who ask why figures can be believed. */
async function proofNote({ read }: Visit, chainId: ChainId): Promise<Html | false> {
  const { data } = await read(status, {});
  const history = data.chains.find((one) => one.chainId === chainId)?.history ?? null;
  if (history === null || history.share === null) return false;
  const { share, provedFrom, provedTo } = history;
  const part = share === 1 ? "All" : formatProvedShare(share);
  return html`<p class="note">${part} of the recorded history is proved by the chain's own block headers: blocks ${formatCount(provedFrom)} to ${formatCount(provedTo)}, each one's logs against the root in its header. <a href="/status">Details</a></p>`;
}

/** Blocks, and events, that are not worth mentioning: they pass within seconds. */
const maxLagBlocks = 50;
const maxLagFacts = 5_000;

const note = (title: string, text: string): Html =>
  html`<div class="notice" role="status"><strong>${title}</strong><p>${text} <a href="/status">Details</a></p></div>`;

/** What happens on a chain, or on all, live. */
export async function activityPage(visit: Visit): Promise<PageContent> {
  const { listed, parameter, now } = visit;
  const type = chosenKind(parameter("type"));
  const cursor = parameter("cursor");
  const { rows, next } = await newestActivity(visit, { perPage: 40, type, cursor });
  const { choice, name } = choiceOn(visit);
  const link = (more: Record<string, string>) =>
    pageLink("/activity", { chainId: choice, ...more });
  const isLive = cursor === "";
  const body = html`<h1>Activity on ${name}</h1>
${panel({
  id: "activity",
  title: isLive ? "Newest" : "Earlier",
  aside: isLive && liveSwitch,
  body: html`${tabs(
    "Kinds of activity",
    activityKinds.map(([value, text]) => ({
      href: link({ type: value }),
      text,
      isCurrent: value === type,
    })),
  )}${activityTable(rows, { now, caption: "Activity", isLive, hasChains: listed.length > 1 })}${nextPage(next && link({ type, cursor: next }))}`,
})}`;
  const title = `Activity on ${name}`;
  return { title, body, ...(isLive && { live: type === "" ? {} : { type } }) };
}
