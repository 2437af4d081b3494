import { html } from "#api/pages/kit/html.ts";
import { formatCount, formatShare, moment, none } from "#api/pages/kit/number.ts";
import { panel, table } from "#api/pages/kit/panel.ts";
import type { ConsoleContent, ConsoleVisit } from "./page.ts";

/** What was answered at each path since the API's process started: how often, how fast, and with which faults. */
export async function endpointsPage({ now, fetchMetrics }: ConsoleVisit): Promise<ConsoleContent> {
  const answer = await fetchMetrics();
  const metrics = answer?.ok === true ? await answer.text() : "";
  const startedAt = /^process_start_time_seconds (\S+)$/m.exec(metrics)?.[1];
  const since = startedAt === undefined ? null : new Date(Number(startedAt) * 1_000);
  const seconds = since === null ? 0 : (now().getTime() - since.getTime()) / 1_000;
  const body = html`<h1>Endpoints</h1>
${panel({
  id: "endpoints",
  title: "Requests by path",
  aside:
    since !== null && html`<span class="quiet">since ${moment(since.toISOString(), now())}</span>`,
  about:
    "Of one API process, from the request's arrival to its answer's end. Streams are left out. Refused: 4xx, of which a caller learns why. Failed: 5xx.",
  body: table(
    endpointsOf(metrics),
    [
      {
        head: "Path",
        isHead: true,
        cell: ({ method, route }) => html`<code>${method} ${route}</code>`,
      },
      { head: "Requests", isNumber: true, cell: ({ requests }) => formatCount(requests) },
      {
        head: "A minute",
        isNumber: true,
        cell: ({ requests }) => (seconds > 0 ? ((requests * 60) / seconds).toFixed(1) : none),
      },
      { head: "Half within", isNumber: true, cell: (one) => within(one, 0.5) },
      { head: "99 % within", isNumber: true, cell: (one) => within(one, 0.99) },
      { head: "Refused", isNumber: true, cell: (one) => part(one.refused, one.requests) },
      { head: "Failed", isNumber: true, cell: (one) => part(one.failed, one.requests) },
    ],
    {
      caption: "Requests by path",
      empty: answer === null ? "The API does not answer." : "No request was answered yet.",
      keyOf: ({ method, route }) => `${method} ${route}`,
    },
  ),
})}`;
  return { title: "Endpoints", body };
}

type EndpointFigures = {
  readonly method: string;
  readonly route: string;
  requests: number;
  refused: number;
  failed: number;
  /** Requests within so many seconds, by the bound of each bucket. */
  readonly within: Map<number, number>;
};

/** The series of `http_request_duration_seconds` by path, the busiest first. */
function endpointsOf(metrics: string): EndpointFigures[] {
  const endpoints = new Map<string, EndpointFigures>();
  const series = /^http_request_duration_seconds_(bucket|count)\{(.*)\} (\d+)$/gm;
  for (const [, kind, text = "", count] of metrics.matchAll(series)) {
    const labels = new Map(
      [...text.matchAll(/(\w+)="([^"]*)"/g)].map(([, name, value]) => [name, value]),
    );
    const [method = "", route = "", status = ""] = ["method", "route", "status"].map((name) =>
      labels.get(name),
    );
    const key = `${method} ${route}`;
    const one = endpoints.get(key) ?? {
      ...{ method, route, requests: 0, refused: 0, failed: 0 },
      within: new Map<number, number>(),
    };
    endpoints.set(key, one);
    addSeries(one, { kind, status, bound: Number(labels.get("le")), count: Number(count) });
  }
  return [...endpoints.values()].toSorted((a, b) => b.requests - a.requests);
}

type Series = { kind: string | undefined; status: string; bound: number; count: number };

function addSeries(one: EndpointFigures, { kind, status, bound, count }: Series): void {
  if (kind === "bucket") {
    if (Number.isFinite(bound)) one.within.set(bound, (one.within.get(bound) ?? 0) + count);
    return;
  }
  one.requests += count;
  if (status.startsWith("4")) one.refused += count;
  if (status.startsWith("5")) one.failed += count;
}

/** The bound of the bucket that holds the quantile: not more exact than it was measured. */
function within({ within: buckets, requests }: EndpointFigures, quantile: number): string {
  const bounds = [...buckets].toSorted(([a], [b]) => a - b);
  const [bound] = bounds.find(([, count]) => count >= quantile * requests) ?? [];
  const last = bounds.at(-1)?.[0] ?? 0;
  return bound === undefined ? `over ${last} s` : `${bound * 1_000} ms`;
}

const part = (count: number, of: number) =>
  count === 0
    ? none
    : html`${formatCount(count)} <span class="quiet">${formatShare(count / of)}</span>`;
