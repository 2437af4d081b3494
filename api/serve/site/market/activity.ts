import { chainNames } from "#chains/index.ts";
import { html } from "#api/serve/html/html.ts";
import { listActivity } from "#api/serve/v1/activity/list.ts";
import type { PageContent, Visit } from "../page/visit.ts";
import { activityKinds, activityTable, chosenKind, liveSwitch } from "../parts/activity-table.ts";
import { pageLink } from "../parts/links.ts";
import { nextPage, panel, tabs } from "../parts/panel.ts";

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
