import { type Html, html } from "#api/pages/kit/html.ts";
import { formatCount, moment } from "#api/pages/kit/number.ts";
import { details, panel, table } from "#api/pages/kit/panel.ts";
import { foreignText } from "#api/pages/kit/text.ts";
import { type RecordedAction, readOperatorActions } from "#projections/log/operators.ts";
import { actionLink } from "./known-actions.ts";
import type { OperationProgress, ShownTask } from "./operations.ts";
import { type ConsoleContent, type ConsoleVisit, refusalContent } from "./page.ts";

/** Actions that have a page, the newest. */
export const mostActions = 50;

/** How far the actions are that this process has started, by their id; none that has ended. */
export type RunningActions = ReadonlyMap<string, OperationProgress>;

/** An action while it runs, and after its end: what is done of what, since when, and what it wrote last. */
export async function actionPage(
  { db, now, key }: ConsoleVisit,
  running: RunningActions,
): Promise<ConsoleContent> {
  const progress = running.get(key("id"));
  const action = (await readOperatorActions(db, mostActions)).find(({ id }) => id === key("id"));
  if (action === undefined) {
    const why = `It is not one of the ${mostActions} newest.`;
    return refusalContent({
      ...{ title: "There is no such action", why, status: 404, way: ["/actions", "Actions"] },
    });
  }
  const { startedAt, by, reason, position, ended } = action;
  const time = now();
  const command = `op ${action.arguments.join(" ")}`;
  const output = ended?.output ?? progress?.output ?? "";
  const body = [
    html`<h1>${command}</h1>`,
    details([
      ["State", stateOf(action, progress !== undefined)],
      ["Started", moment(startedAt.toISOString(), time)],
      [ended === null ? "Runs for" : "Took", lasted(startedAt, ended?.at ?? time)],
      ["By", foreignText(by, 60)],
      ["Reason", html`<span>${foreignText(reason, 300)}</span>`],
      ["Fact", html`<a href="/log/${position.toString()}">${position.toString()}</a>`],
    ]),
    ended === null &&
      progress !== undefined &&
      panel({ id: "progress", title: "What is done", body: taskTable(progress.tasks) }),
    panel({
      id: "lines",
      title: ended?.isDone === false ? "Why it failed" : "Its last lines",
      body:
        output.trim() === ""
          ? html`<p class="empty">It has written nothing${ended === null && " yet"}.</p>`
          : html`<pre class="output" tabindex="0">${output.slice(-4_000)}</pre>`,
    }),
    html`<p>${againLink(action, progress !== undefined)} <a class="button" href="/actions">Actions</a></p>`,
  ].filter((part) => part !== false);
  return { title: command, body };
}

/** Where it is not known to run, it can be started again: one that runs after all refuses a second. */
const againLink = ({ action, target, ended }: RecordedAction, isRunning: boolean): Html | false =>
  target !== undefined &&
  !isRunning &&
  ended?.isDone !== true &&
  actionLink("Run again", action, target);

export function stateOf({ ended }: RecordedAction, isRunning: boolean): Html {
  if (ended !== null)
    return ended.isDone
      ? html`<span class="mark good">done</span>`
      : html`<span class="mark bad">failed</span>`;
  return isRunning
    ? html`<span class="mark wait">running</span>`
    : html`<span class="mark wait">no end recorded</span> The console was started again since.`;
}

function lasted(from: Date, to: Date): string {
  const seconds = Math.max(0, Math.round((to.getTime() - from.getTime()) / 1_000));
  return seconds < 120 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

const taskTable = (tasks: readonly ShownTask[]): Html =>
  table(
    tasks,
    [
      { head: "Task", cell: ({ task }) => task, isHead: true },
      { head: "Step", cell: ({ step = "" }) => step },
      {
        head: "Done",
        cell: ({ task, done, total, unit }) =>
          total === null
            ? `${formatCount(done)} ${unit}`
            : html`${formatCount(done)} of ${formatCount(total)} ${unit} <progress max="${Math.max(total, 1)}" value="${done}" aria-label="${task}"></progress>`,
        isNumber: true,
      },
    ],
    { caption: "Tasks", empty: "It has not begun to count, or counts nothing: see its lines." },
  );
