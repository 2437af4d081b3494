import type { z } from "zod";
import { type Html, html } from "#api/serve/html/html.ts";
import type { Collection } from "#api/serve/views/collection.ts";
import { sparkline } from "../charts/sparkline.ts";
import { amount } from "../parts/amount.ts";
import { coinOf } from "../parts/chain.ts";
import { picture } from "../parts/media.ts";
import { change, formatCount, none } from "../parts/number.ts";
import { tabs } from "../parts/panel.ts";
import { table } from "../parts/table.ts";
import { nameOr, shortHex } from "../parts/text.ts";

export type CollectionRow = z.output<typeof Collection>;
export type Line = readonly { readonly t: string; readonly c: number }[];

export const windows = ["24h", "7d", "30d"] as const;
export const sorts = ["volume", "floor", "sales", "listed", "supply", "holders", "change"] as const;
type Sort = (typeof sorts)[number];

type Link = (more: Record<string, string | undefined>) => string;

type Ranking = {
  readonly chainId: CollectionRow["chainId"];
  readonly period: (typeof windows)[number];
  readonly sort: Sort;
  readonly link: Link;
};

/** Whether trades that look like those of one person with themselves count in the order. */
export const washSwitch = (isExcluded: boolean, link: Link): Html =>
  tabs("Trades that count in the order", [
    { href: link({ exclude_wash: undefined }), text: "All trades", isCurrent: !isExcluded },
    { href: link({ exclude_wash: "true" }), text: "Without wash trades", isCurrent: isExcluded },
  ]);

/** Collections with what was traded in the period, and how much of it looks like wash trades. */
export function ranking(
  rows: readonly CollectionRow[],
  lines: readonly Line[],
  options: Ranking,
): Html {
  const { chainId, period, link } = options;
  const symbol = coinOf(chainId);
  const sortable = (sort: Sort, text: string) => {
    const isSorted = sort === options.sort;
    const mark = isSorted && html` <span aria-hidden="true">↓</span>`;
    const current = isSorted && html` aria-current="true"`;
    return { isSorted, head: html`<a href="${link({ sort })}"${current}>${text}${mark}</a>` };
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
  return html`<span class="named">${picture(media.imageUrl, "", 36)}<span><a href="${urls.collection}">${nameOr(name, slug === null || slug === address ? shortHex(address) : slug)}</a>${verified && html` <span class="mark good" title="verified">✓<span class="unseen">verified</span></span>`}</span></span>`;
}
