import { chainNames } from "#chains/index.ts";
import { html } from "#api/serve/html/html.ts";
import { listActivity } from "#api/serve/v1/activity/list.ts";
import { floorLines } from "#api/serve/v1/collections/floor-lines.ts";
import { listCollections } from "#api/serve/v1/collections/list.ts";
import type { PageContent, Visit } from "../page/visit.ts";
import { activityTable, liveSwitch } from "../parts/activity-table.ts";
import { activityLink, pageLink } from "../parts/links.ts";
import { nextPage, panel, tabs } from "../parts/panel.ts";
import { progressNote, proofNote } from "./progress.ts";
import { type CollectionRow, type Line, ranking, sorts, washSwitch, windows } from "./ranking.ts";

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
