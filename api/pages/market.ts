import type { z } from "zod";
import { chainNames } from "#chains/index.ts";
import { formatProvedShare } from "#projections/log/chain-state.ts";
import { listActivity } from "../v1/activity.ts";
import { type Collection, listCollections } from "../v1/collections/collections.ts";
import { floorLines } from "../v1/collections/floors.ts";
import { status } from "../v1/status.ts";
import { activityKinds, activityTable, chosenKind, liveSwitch } from "./kit/activity-table.ts";
import { type Html, html } from "./kit/html.ts";
import { activityLink, pageLink } from "./kit/links.ts";
import { picture } from "./kit/media.ts";
import { amount, change, coinSymbol, formatCount, formatNumber, none } from "./kit/number.ts";
import { nextPage, panel, table, tabs } from "./kit/panel.ts";
import { nameOr, shortHex } from "./kit/text.ts";
import type { PageContent, Visit } from "./kit/visit.ts";

const perPage = 20;

/** The market of a chain: collections by what was traded, and what happens now. */
export async function marketPage(visit: Visit): Promise<PageContent> {
  const { chainId, read, parameter, now } = visit;
  const chain = { chainId: String(chainId) };
  const period = windows.find((one) => one === parameter("period")) ?? "24h";
  const sort = sorts.find((one) => one === parameter("sort")) ?? "volume";
  const cursor = parameter("cursor");
  const excludesWash = parameter("exclude_wash") === "true";
  const [{ data: rows, meta }, { data: recent }, progress, proof] = await Promise.all([
    read(listCollections, {
      query: {
        ...chain,
        period,
        sort,
        cursor: cursor || undefined,
        per_page: String(perPage),
        exclude_wash: excludesWash ? "true" : undefined,
      },
    }),
    read(listActivity, { query: { ...chain, per_page: "12" } }),
    progressNote(visit),
    proofNote(visit),
  ]);
  const lines = await floorLinesOf(visit, rows);
  const link = (more: Record<string, string | undefined>) =>
    pageLink("/", {
      chainId,
      period,
      sort,
      exclude_wash: excludesWash ? "true" : undefined,
      ...more,
    });
  const next = meta?.next_cursor ?? null;
  const body = html`<h1>NFTs on ${chainNames[chainId]}</h1>
${progress}
${panel({
  id: "collections",
  title: "Collections",
  aside: tabs(
    "Length of time",
    windows.map((one) => ({ href: link({ period: one }), text: one, isCurrent: one === period })),
  ),
  body: html`${washSwitch(excludesWash, link)}${ranking(rows, lines, { period, sort, link, chainId })}${nextPage(next && link({ cursor: next }))}`,
})}
${panel({
  id: "activity",
  title: "Now",
  aside: html`${liveSwitch}<a href="${activityLink(chainId)}">All activity</a>`,
  body: activityTable(recent, { now, caption: "Newest activity", isLive: true }),
})}
${proof}`;
  return { title: `NFTs on ${chainNames[chainId]}`, body, live: {} };
}

/** In the order of the rows. */
async function floorLinesOf(
  { chainId, read }: Visit,
  rows: readonly RankedCollection[],
): Promise<Line[]> {
  if (rows.length === 0) return [];
  const collections = rows.map(({ address }) => address).join();
  const { data } = await read(floorLines, {
    query: { chainId: String(chainId), collections, days: "7" },
  });
  const points = new Map<string, Line>(data.map((line) => [line.address, line.points]));
  return rows.map(({ address }) => points.get(address) ?? []);
}

type RankedCollection = z.output<typeof Collection>;
type Line = readonly { readonly t: string; readonly c: number }[];

const windows = ["24h", "7d", "30d"] as const;
const sorts = ["volume", "floor", "sales", "listed", "supply", "holders", "change"] as const;
type Sort = (typeof sorts)[number];

type Link = (more: Record<string, string | undefined>) => string;

type Ranking = {
  readonly chainId: RankedCollection["chainId"];
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
  const { chainId, period, link } = options;
  const symbol = coinSymbol(chainId);
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
      {
        ...sortable("volume", `Volume ${period}`),
        isNumber: true,
        cell: ({ stats }) =>
          amount({ wei: stats.volumeWei[period], symbol, usd: stats.volumeUsd[period] ?? null }),
      },
      {
        head: "Wash volume",
        isNumber: true,
        isMinor: true,
        cell: ({ stats }) =>
          (stats.washSales[period] ?? 0) === 0
            ? none
            : amount({ wei: stats.washVolumeWei[period], symbol }),
      },
      {
        ...sortable("floor", "Floor"),
        isNumber: true,
        cell: ({ stats: { floor } }) =>
          amount({ wei: floor?.priceWei, symbol: floor?.currency ?? symbol, usd: floor?.usd }),
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
async function progressNote({ chainId, read }: Visit): Promise<Html | false> {
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
async function proofNote({ chainId, read }: Visit): Promise<Html | false> {
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

/** What happens on a chain, live. */
export async function activityPage({ chainId, read, parameter, now }: Visit): Promise<PageContent> {
  const type = chosenKind(parameter("type"));
  const cursor = parameter("cursor");
  const { data, meta } = await read(listActivity, {
    query: {
      chainId: String(chainId),
      type: type || undefined,
      cursor: cursor || undefined,
      per_page: "50",
    },
  });
  const next = meta?.next_cursor ?? null;
  const link = (more: Record<string, string>) => pageLink("/activity", { chainId, ...more });
  const body = html`<h1>Activity on ${chainNames[chainId]}</h1>
${panel({
  id: "activity",
  title: cursor === "" ? "Newest" : "Earlier",
  aside: cursor === "" && liveSwitch,
  body: html`${tabs(
    "Kinds of activity",
    activityKinds.map(([value, text]) => ({
      href: link({ type: value }),
      text,
      isCurrent: value === type,
    })),
  )}${activityTable(data, { now, caption: "Activity", isLive: cursor === "" })}${nextPage(next && link({ type, cursor: next }))}`,
})}`;
  return {
    title: `Activity on ${chainNames[chainId]}`,
    body,
    ...(cursor === "" && { live: type === "" ? {} : { type } }),
  };
}
