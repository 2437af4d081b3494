import type { z } from "zod";
import { type Html, html } from "../../html/html.ts";
import { listActivity } from "../../v1/activity/list.ts";
import { floorLines } from "../../v1/collections/floor-lines.ts";
import { listCollections } from "../../v1/collections/list.ts";
import type { Collection } from "../../views/collection.ts";
import { sparkline } from "../charts/sparkline.ts";
import type { PageContent, Visit } from "../page/visit.ts";
import { activityTable, liveSwitch } from "../parts/activity-table.ts";
import { amount } from "../parts/amount.ts";
import { chainNames, coinOf } from "../parts/chain.ts";
import { activityLink, pageLink } from "../parts/links.ts";
import { picture } from "../parts/media.ts";
import { change, formatCount } from "../parts/number.ts";
import { nextPage, panel, tabs } from "../parts/panel.ts";
import { table } from "../parts/table.ts";
import { nameOr, shortHex } from "../parts/text.ts";
import { progressNote } from "./progress.ts";

type CollectionRow = z.output<typeof Collection>;
type Line = readonly { readonly t: string; readonly c: number }[];

const windows = ["24h", "7d", "30d"] as const;
const sorts = ["volume", "floor", "sales", "listed", "supply", "holders", "change"] as const;
type Sort = (typeof sorts)[number];

const perPage = 20;

/** The market of a chain: collections by what was traded, and what happens now. */
export async function marketPage(visit: Visit): Promise<PageContent> {
  const { chainId, read, parameter, now } = visit;
  const chain = { chainId: String(chainId) };
  const period = windows.find((one) => one === parameter("period")) ?? "24h";
  const sort = sorts.find((one) => one === parameter("sort")) ?? "volume";
  const cursor = parameter("cursor");
  const [{ data: rows, meta }, { data: recent }, progress] = await Promise.all([
    read(listCollections, {
      query: { ...chain, period, sort, cursor: cursor || undefined, per_page: String(perPage) },
    }),
    read(listActivity, { query: { ...chain, per_page: "12" } }),
    progressNote(visit),
  ]);
  const lines = await floorLinesOf(visit, rows);
  const link = (more: Record<string, string>) => pageLink("/", { chainId, period, sort, ...more });
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
  body: html`${ranking(rows, lines, { period, sort, link, chainId })}${nextPage(next && link({ cursor: next }))}`,
})}
${panel({
  id: "activity",
  title: "Now",
  aside: html`${liveSwitch}<a href="${activityLink(chainId)}">All activity</a>`,
  body: activityTable(recent, { now, caption: "Newest activity", isLive: true }),
})}`;
  return { title: `NFTs on ${chainNames[chainId]}`, body, live: {} };
}

/** In the order of the rows. */
async function floorLinesOf(
  { chainId, read }: Visit,
  rows: readonly CollectionRow[],
): Promise<Line[]> {
  if (rows.length === 0) return [];
  const collections = rows.map(({ address }) => address).join();
  const { data } = await read(floorLines, {
    query: { chainId: String(chainId), collections, days: "7" },
  });
  const points = new Map<string, Line>(data.map((line) => [line.address, line.points]));
  return rows.map(({ address }) => points.get(address) ?? []);
}

type Ranking = {
  readonly chainId: CollectionRow["chainId"];
  readonly period: (typeof windows)[number];
  readonly sort: Sort;
  readonly link: (more: Record<string, string>) => string;
};

function ranking(rows: readonly CollectionRow[], lines: readonly Line[], options: Ranking): Html {
  const { chainId, period, link } = options;
  const symbol = coinOf(chainId);
  const head = (sort: Sort, text: string) =>
    sort === options.sort
      ? html`<a href="${link({ sort })}" aria-current="true">${text} <span aria-hidden="true">↓</span></a>`
      : html`<a href="${link({ sort })}">${text}</a>`;
  return table(
    rows.map((row, index) => ({ ...row, line: lines[index] ?? [] })),
    [
      { head: "Collection", cell: nameCell, isHead: true },
      {
        head: head("volume", `Volume ${period}`),
        isNumber: true,
        cell: ({ stats }) =>
          amount({ wei: stats.volumeWei[period], symbol, usd: stats.volumeUsd[period] ?? null }),
      },
      {
        head: head("floor", "Floor"),
        isNumber: true,
        cell: ({ stats: { floor } }) =>
          amount({ wei: floor?.priceWei, symbol: floor?.currency ?? symbol, usd: floor?.usd }),
      },
      {
        head: head("change", "Change"),
        isNumber: true,
        cell: ({ stats }) => change(stats.change[period]),
      },
      {
        head: head("sales", "Sales"),
        isNumber: true,
        cell: ({ stats }) => formatCount(stats.sales[period] ?? 0),
      },
      {
        head: head("listed", "Listed"),
        isNumber: true,
        isMinor: true,
        cell: ({ stats }) => formatCount(stats.listed),
      },
      {
        head: head("holders", "Holders"),
        isNumber: true,
        isMinor: true,
        cell: ({ stats }) => formatCount(stats.holders),
      },
      {
        head: "Floor, last week",
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

function nameCell({ slug, address, name, media, verified, urls }: CollectionRow): Html {
  return html`<span class="named">${picture(media.imageUrl, "", 36)}<span><a href="${urls.collection}">${nameOr(name, slug ?? shortHex(address))}</a>${verified && html` <span class="mark good" title="verified">✓<span class="unseen">verified</span></span>`}</span></span>`;
}
