import { type RecordedAction, readOperatorActions, readPaused, switchNames } from "#projections/log/operators.ts";
import { type Html, html } from "#api/pages/kit/html.ts";
import { moment } from "#api/pages/kit/number.ts";
import { panel, table } from "#api/pages/kit/panel.ts";
import { foreignText } from "#api/pages/kit/text.ts";
import type { PageContent, Visit } from "../page/visit.ts";
import { actionLink } from "./action-link.ts";

const mostActions = 50;

const explanations: Record<(typeof switchNames)[number], string> = {
  recording: "from Ponder's tables to the log",
  projecting: "from the log to the projections",
  listings: "accepting listings",
  offers: "accepting offers",
  buying: "returning buy data",
  "instant-keys": "issuing instant keys",
};

/** What can be started here, and what was. */
export async function actionsPage({ db, now }: Visit): Promise<PageContent> {
  const [paused, actions] = await Promise.all([
    readPaused(db),
    readOperatorActions(db, mostActions),
  ]);
  const time = now();
  const body = [
    html`<h1>Actions</h1>`,
    panel({
      id: "switches",
      title: "Parts of the service",
      body: table(
        switchNames,
        [
          { head: "Part", cell: (name) => name, isHead: true },
          { head: "Does", cell: (name) => explanations[name] },
          { head: "State", cell: (name) => stateMark(paused.includes(name)) },
          {
            head: "Action",
            cell: (name) =>
              paused.includes(name)
                ? actionLink("Resume", "resume", name)
                : actionLink("Pause", "pause", name),
          },
        ],
        { caption: "Parts of the service" },
      ),
    }),
    panel({
      id: "whole",
      title: "All projections",
      body: html`<p>${actionLink("Verify", "verify")} ${actionLink("Rebuild", "rebuild")} ${actionLink("Prune", "prune")} ${actionLink("Examine", "doctor")}</p>`,
      about: "One at a time: on the page of projections.",
    }),
    panel({
      id: "history",
      title: "What operators did",
      body: table(
        actions,
        [
          {
            head: "Started",
            cell: ({ startedAt }) => moment(startedAt.toISOString(), time),
            isHead: true,
          },
          { head: "By", cell: ({ by }) => foreignText(by, 60) },
          { head: "Command", cell: (one) => html`<code>op ${one.arguments.join(" ")}</code>` },
          { head: "Reason", cell: ({ reason }) => html`<span>${foreignText(reason, 300)}</span>` },
          { head: "Outcome", cell: (one) => outcomeOf(one) },
          {
            head: "Fact",
            cell: ({ position }) =>
              html`<a href="/log/${position.toString()}">${position.toString()}</a>`,
            isNumber: true,
          },
        ],
        {
          caption: "Actions of operators",
          empty: "No action was started here yet.",
          keyOf: ({ id }) => id,
        },
      ),
    }),
  ];
  return { title: "Actions", body };
}

const stateMark = (isPaused: boolean): Html =>
  isPaused
    ? html`<span class="mark wait">paused</span>`
    : html`<span class="mark good">running</span>`;

function outcomeOf({ id, ended }: RecordedAction): Html {
  if (ended === null) return html`<span class="mark wait">no end recorded yet</span>`;
  const mark = ended.isDone
    ? html`<span class="mark good">done</span>`
    : html`<span class="mark bad">failed</span>`;
  if (ended.output.trim() === "") return mark;
  return html`${mark}<details id="output-${id}"><summary>Output</summary><pre class="output" tabindex="0">${ended.output.slice(-4_000)}</pre></details>`;
}
