import { sql } from "kysely";
import { type Html, html } from "#api/pages/kit/html.ts";
import { formatCount, moment } from "#api/pages/kit/number.ts";
import { panel, type TableColumn, table } from "#api/pages/kit/panel.ts";
import { foreignText } from "#api/pages/kit/text.ts";
import type { Database } from "#projections/log/database.ts";
import {
  type CallOutcome,
  callFaults,
  readBudgets,
  readCalls,
  type StoredBudget,
  type StoredCalls,
} from "#projections/log/outgoing-calls.ts";
import type { ConsoleContent, ConsoleVisit } from "./page.ts";

const uncounted = "None was counted yet: processes store their counts every ten seconds.";

/** What the service asks of others: calls to nodes by method, and partners with their passes, budgets and errors. */
export async function upstreamPage({ db, now }: ConsoleVisit): Promise<ConsoleContent> {
  const time = now();
  const [nodes, requests, budgets, passes, skips] = await Promise.all([
    readCalls(db, "node", time),
    readCalls(db, "partner", time),
    readBudgets(db, time),
    readPartnerPasses(db),
    readPartnerSkips(db),
  ]);
  const body = [
    html`<h1>Nodes and partners</h1>`,
    nodesPanel(nodes, time),
    panel({
      id: "partners",
      title: "Partners",
      body: [
        passTable(passes, time),
        budgetTable(budgets, time),
        callTable({
          caption: "Requests to partners",
          calls: requests,
          now: time,
          by: [
            ["Marketplace", ({ target }) => target],
            ["Role", ({ role }) => role],
            ["Budget", ({ method }) => method],
          ],
          empty: "None was counted yet.",
        }),
        skipTable(skips, time),
      ],
    }),
  ];
  return { title: "Nodes and partners", body };
}

function nodesPanel(calls: readonly StoredCalls[], now: Date): Html {
  const chain = ["Chain", ({ target }: StoredCalls) => target] as const;
  return panel({
    id: "nodes",
    title: "Calls to nodes",
    about:
      "JSON-RPC calls of all processes since they are counted. Failed: the node's own error, or no answer that can be used; a contract that reverts is no failure.",
    body: [
      callTable({
        caption: "Calls by method",
        calls,
        now,
        empty: uncounted,
        by: [chain, ["Method", ({ method }) => method]],
      }),
      callTable({
        caption: "Calls by node",
        calls,
        now,
        empty: uncounted,
        by: [
          chain,
          ["Role", ({ role }) => role],
          ["Node", ({ host }) => (host === "" ? "as Ponder chose" : host)],
        ],
      }),
    ],
  });
}

const budgetTable = (budgets: readonly StoredBudget[], now: Date): Html =>
  table(
    budgets,
    [
      { head: "Marketplace", cell: ({ marketplace }) => marketplace },
      { head: "Role", cell: ({ role }) => role },
      { head: "Budget", cell: ({ budget }) => budget, isHead: true },
      { head: "Left now", cell: ({ left }) => left, isNumber: true },
      { head: "At once", cell: ({ burst }) => burst, isNumber: true },
      { head: "A minute", cell: ({ perMinute }) => perMinute, isNumber: true },
      {
        head: "Paused by the partner until",
        cell: ({ pausedUntil }) =>
          pausedUntil === null ? "not paused" : moment(pausedUntil.toISOString(), now),
      },
    ],
    {
      caption: "Budgets of requests, by the process that made the last one",
      isCaptionShown: true,
      empty: "No request to a partner was made yet.",
    },
  );

type Group = {
  names: readonly string[];
  calls: number;
  recent: number;
  faults: number;
  recentFaults: number;
  lastAt: Date;
  lastFault: { at: Date; message: string | null; outcome: CallOutcome } | null;
};

type CallTable = {
  caption: string;
  /** Heads of the columns by which calls are grouped, each with its value. */
  by: readonly (readonly [head: string, of: (one: StoredCalls) => string])[];
  calls: readonly StoredCalls[];
  now: Date;
  empty: string;
};

/** Calls by what they have in common, with those that failed and why the last one did. */
function callTable({ caption, by, calls, now, empty }: CallTable): Html {
  const groups = groupCalls(
    calls,
    by.map(([, of]) => of),
  );
  const columns: TableColumn<Group>[] = [
    ...by.map(([head], index) => ({
      head,
      cell: ({ names }: Group) => foreignText(names[index] ?? "", 80),
      isHead: index === by.length - 1,
    })),
    { head: "Calls", cell: ({ calls }) => formatCount(calls), isNumber: true },
    { head: "Failed", cell: ({ faults }) => formatCount(faults), isNumber: true },
    { head: "Last two hours", cell: ({ recent }) => formatCount(recent), isNumber: true },
    {
      head: "Of these failed",
      cell: ({ recentFaults }) =>
        recentFaults === 0 ? "0" : html`<span class="mark bad">${formatCount(recentFaults)}</span>`,
      isNumber: true,
    },
    { head: "Last", cell: ({ lastAt }) => moment(lastAt.toISOString(), now) },
    { head: "Last failure", cell: ({ lastFault }) => faultCell(lastFault, now) },
  ];
  return table(groups, columns, { caption, empty, isCaptionShown: true });
}

const faultCell = (fault: Group["lastFault"], now: Date): Html =>
  fault === null
    ? html`none`
    : html`${moment(fault.at.toISOString(), now)}: ${foreignText(fault.message ?? fault.outcome.replace("_", " "), 160)}`;

function groupCalls(
  calls: readonly StoredCalls[],
  by: readonly ((one: StoredCalls) => string)[],
): Group[] {
  const groups = new Map<string, Group>();
  for (const one of calls) {
    const names = by.map((of) => of(one));
    const group = groups.get(names.join("\n")) ?? emptyGroup(names);
    groups.set(names.join("\n"), group);
    addTo(group, one);
  }
  return [...groups.values()];
}

const emptyGroup = (names: readonly string[]): Group => ({
  names,
  calls: 0,
  recent: 0,
  faults: 0,
  recentFaults: 0,
  lastAt: new Date(0),
  lastFault: null,
});

function addTo(group: Group, one: StoredCalls): void {
  group.calls += one.calls;
  group.recent += one.recent;
  if (one.lastAt > group.lastAt) group.lastAt = one.lastAt;
  if (!callFaults.includes(one.outcome)) return;
  group.faults += one.calls;
  group.recentFaults += one.recent;
  if (group.lastFault === null || one.lastAt > group.lastFault.at) {
    group.lastFault = { at: one.lastAt, message: one.lastMessage, outcome: one.outcome };
  }
}

/** How far the passes over partners' listings are. */
const passTable = (passes: readonly PartnerPasses[], time: Date): Html =>
  table(
    passes,
    [
      { head: "Marketplace", cell: ({ marketplace }) => marketplace, isHead: true },
      { head: "Chain", cell: ({ chainId }) => chainId },
      { head: "Listings", cell: ({ listings }) => formatCount(listings), isNumber: true },
      { head: "Contracts", cell: ({ contracts }) => contracts, isNumber: true },
      { head: "Without a full pass", cell: ({ unread }) => unread, isNumber: true },
      { head: "Due", cell: ({ due }) => due, isNumber: true },
      { head: "Newest pass", cell: ({ newestPass }) => moment(newestPass?.toISOString(), time) },
      { head: "Oldest pass", cell: ({ oldestPass }) => moment(oldestPass?.toISOString(), time) },
    ],
    {
      caption: "Passes over partners' listings",
      isCaptionShown: true,
      empty: "No partner is configured, or none was read yet.",
    },
  );

const skipTable = (skips: readonly PartnerSkips[], time: Date): Html =>
  table(
    skips,
    [
      { head: "Marketplace", cell: ({ marketplace }) => marketplace, isHead: true },
      { head: "Reason", cell: ({ reason }) => reason.replaceAll("_", " ") },
      { head: "Entries", cell: ({ entries }) => entries.toString(), isNumber: true },
      { head: "Last at", cell: ({ lastAt }) => moment(lastAt.toISOString(), time) },
      {
        head: "Last path",
        cell: ({ lastPath }) => html`<code>${foreignText(lastPath, 120)}</code>`,
      },
    ],
    {
      caption: "Entries that were skipped",
      isCaptionShown: true,
      empty: "No entry of a partner was skipped.",
    },
  );

type PartnerPasses = {
  marketplace: string;
  chainId: number;
  contracts: number;
  unread: number;
  /** Contracts whose next pass is overdue. */
  due: number;
  newestPass: Date | null;
  oldestPass: Date | null;
  listings: number;
};

/** How the listings of partners are synchronised. */
async function readPartnerPasses(db: Database): Promise<PartnerPasses[]> {
  const { rows } = await sql<PartnerPasses>`
    select c.marketplace, c.chain_id as "chainId", count(*)::int as contracts,
           (count(*) filter (where full_at is null))::int as unread,
           (count(*) filter (where due_at < now()))::int as due,
           max(full_at) as "newestPass", min(full_at) as "oldestPass",
           (select count(*)::int from ops.partner_listing l
            where l.marketplace = c.marketplace and l.chain_id = c.chain_id and l.is_visible) as listings
    from ops.partner_collection c group by 1, 2 order by 1, 2`.execute(db);
  return rows;
}

type PartnerSkips = {
  marketplace: string;
  reason: string;
  entries: bigint;
  lastPath: string;
  lastAt: Date;
};

/** Entries of partners' lists that were skipped, and why. */
async function readPartnerSkips(db: Database): Promise<PartnerSkips[]> {
  const { rows } = await sql<PartnerSkips>`
    select marketplace, reason, entries, last_path as "lastPath", last_at as "lastAt"
    from ops.partner_skip order by last_at desc`.execute(db);
  return rows;
}
