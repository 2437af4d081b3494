import { type Html, html } from "#api/serve/html/html.ts";
import { listActivity } from "#api/serve/v1/activity/list.ts";
import type { Visit } from "../page/visit.ts";
import { activityKinds, activityTable, chosenKind, liveSwitch } from "../parts/activity-table.ts";
import { nextPage, panel, tabs } from "../parts/panel.ts";
import { type CollectionRow, filterLink } from "./head.ts";

/** What happened to a collection's tokens and orders, live. */
export async function activityView(visit: Visit, row: CollectionRow): Promise<Html> {
  const { chainId, read, parameter, now } = visit;
  const type = chosenKind(parameter("type"));
  const cursor = parameter("cursor");
  const { data, meta } = await read(listActivity, {
    query: {
      chainId: String(chainId),
      collection: row.slug ?? row.address,
      type: type || undefined,
      cursor: cursor || undefined,
      per_page: "50",
    },
  });
  const next = meta?.next_cursor ?? null;
  return panel({
    id: "activity",
    title: "Activity",
    aside: cursor === "" && liveSwitch,
    body: html`${tabs(
      "Kinds of activity",
      activityKinds.map(([value, text]) => ({
        href: filterLink(row, { view: "activity", type: value }),
        text,
        isCurrent: value === type,
      })),
    )}${activityTable(data, { now, caption: "Activity", without: ["collection"], isLive: cursor === "" })}${nextPage(
      next && filterLink(row, { view: "activity", type, cursor: next }),
    )}`,
  });
}
