import { readCalls, type StoredCalls, readBudgets, type StoredBudget } from "#projections/log/outgoing-calls.ts";
import { type Html, html } from "#api/pages/kit/html.ts";
import { moment } from "#api/pages/kit/number.ts";
import { panel, table } from "#api/pages/kit/panel.ts";
import type { PageContent, Visit } from "../page/visit.ts";
import { callTable } from "../parts/call-table.ts";
import { passTable, skipTable } from "../parts/partner-tables.ts";
import { readPartnerPasses, readPartnerSkips } from "../reads/partners.ts";

const uncounted = "None was counted yet: processes store their counts every ten seconds.";

/** What the service asks of others: calls to nodes by method, and partners with their passes, budgets and errors. */
export async function upstreamPage({ db, now }: Visit): Promise<PageContent> {
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
