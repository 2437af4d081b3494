import { createHmac, randomBytes } from "node:crypto";
import type { Express, Request, RequestHandler, Response } from "express";
import { servePath } from "#api/http/mount.ts";
import { type Html, html } from "#api/pages/kit/html.ts";
import { moment } from "#api/pages/kit/number.ts";
import { isSameToken, pageInputOf, readOwnForm } from "#api/pages/kit/page-input.ts";
import { details, panel, table } from "#api/pages/kit/panel.ts";
import { foreignText } from "#api/pages/kit/text.ts";
import {
  appendActionEnded,
  appendActionStarted,
  readOperatorActions,
  readPaused,
  switchNames,
} from "#projections/log/operators.ts";
import { actionPage, mostActions, type RunningActions, stateOf } from "./action.ts";
import { operatorOf } from "./guard.ts";
import { actionLink, type ConsoleAction, findAction, type RunAction } from "./known-actions.ts";
import type { OperationProgress } from "./operations.ts";
import {
  type ConsoleContent,
  type ConsoleContext,
  type ConsoleVisit,
  refusalContent,
  sendConsolePage,
  serveConsolePage,
} from "./page.ts";

/** What a field may hold. */
const maxLength = 500;

/** Serves the page that asks for a confirmation, and the form on it, which alone starts an action. */
export function mountActions(app: Express, context: ConsoleContext): void {
  const confirmations = openConfirmations(context.now);
  const running = new Map<string, OperationProgress>();
  servePath(app, "/actions/new", {
    get: [serveConsolePage(context, async (visit) => confirmPage(visit, confirmations.issue))],
  });
  const refuse = (request: Request, response: Response, title: string, why: string) =>
    sendConsolePage(request, response, context.now(), refused(title, why));
  const readForm = readOwnForm(null, (request, response) => {
    const why = "It was not sent from a page of this console.";
    refuse(request, response, "This form was refused", why);
  });
  const submit: RequestHandler = async (request, response) => {
    const sent = pageInputOf(request);
    const field = (name: string) => sent.field(name).slice(0, maxLength).trim();
    const [name, target] = [field("action"), field("target")];
    if (!confirmations.accept(field("confirmation"), name, target)) {
      const why = "Its page is too old, or it was sent already: open the action again.";
      return refuse(request, response, "This action was not confirmed", why);
    }
    const action = findAction(context, name, target);
    const by = operatorOf(request) ?? field("by");
    const reason = field("reason");
    if (action === null || action.run === null) {
      return refuse(request, response, "There is no such action", "Nothing was started.");
    }
    if (by === "" || reason === "") {
      const why = "It needs the name of who starts it, and a reason. Nothing was started.";
      return refuse(request, response, "This action was not confirmed", why);
    }
    const address = request.socket.remoteAddress ?? "unknown";
    const who = { action: name, target, arguments: action.command, by, address, reason };
    const id = await appendActionStarted(context.db, who);
    const ended = runAction(context, id, action, action.run, running);
    response
      .status(303)
      .set("Location", await placeOf(id, action, ended))
      .end();
  };
  servePath(app, "/actions/{id}", {
    get: [serveConsolePage(context, (visit) => actionPage(visit, running))],
  });
  servePath(app, "/actions", {
    get: [serveConsolePage(context, (visit) => actionsPage(visit, running))],
    post: [readForm, submit],
  });
}

/** Where who started an action looks next: one that is short has ended there. */
async function placeOf(id: string, { isLong }: ConsoleAction, ended: Promise<void>) {
  if (isLong) return `/actions/${id}`;
  await ended;
  return "/actions";
}

/** Runs an action and appends its outcome. Never rejects. */
async function runAction(
  { db, logger }: ConsoleContext,
  id: string,
  { command }: ConsoleAction,
  run: RunAction,
  running: Map<string, OperationProgress>,
): Promise<void> {
  const onProgress = (progress: OperationProgress) => void running.set(id, progress);
  onProgress({ id, tasks: [], output: "" });
  try {
    const outcome = await run(id, onProgress).catch((error: unknown) => ({
      isDone: false,
      output: error instanceof Error ? error.message : String(error),
    }));
    await appendActionEnded(db, id, outcome);
    logger.info(
      { id, command: command.join(" "), isDone: outcome.isDone },
      "operator action ended",
    );
  } catch (error) {
    logger.error({ id, err: error }, "recording operator action outcome failed");
  } finally {
    running.delete(id);
  }
}

const refused = (title: string, why: string, status = 403): ConsoleContent =>
  refusalContent({ title, why, status, way: ["/actions", "Actions"] });

const explanations: Record<(typeof switchNames)[number], string> = {
  recording: "from Ponder's tables to the log",
  projecting: "from the log to the projections",
  listings: "accepting listings",
  offers: "accepting offers",
  buying: "returning buy data",
  "instant-keys": "issuing instant keys",
};

/** What can be started here, and what was. */
async function actionsPage(
  { db, now }: ConsoleVisit,
  running: RunningActions,
): Promise<ConsoleContent> {
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
          {
            head: "Command",
            cell: (one) =>
              html`<a href="/actions/${one.id}"><code>op ${one.arguments.join(" ")}</code></a>`,
          },
          { head: "Reason", cell: ({ reason }) => html`<span>${foreignText(reason, 300)}</span>` },
          { head: "Outcome", cell: (one) => stateOf(one, running.has(one.id)) },
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

/** Says what an action does, and asks who starts it and why. */
function confirmPage(
  visit: ConsoleVisit,
  issue: (action: string, target: string) => string,
): ConsoleContent {
  const [name, target] = [visit.parameter("action"), visit.parameter("target")];
  const action = findAction(visit, name, target);
  if (action === null) return refused("There is no such action", "Nothing was started.", 404);
  const { title, effect, command, run } = action;
  const commandLine = `npm run op -- ${command.join(" ")}`;
  const body = html`<h1>${title}?</h1>
<p>${effect}</p>
${details([["The same in a terminal", html`<code>${commandLine}</code>`]])}
${
  run === null
    ? html`<p class="notice">This console was started without a supervisor, which runs such commands: type it in a terminal.</p>`
    : html`<form class="confirm" method="post" action="/actions">
<input type="hidden" name="action" value="${name}">
<input type="hidden" name="target" value="${target}">
<input type="hidden" name="confirmation" value="${issue(name, target)}">
${
  visit.operator === null
    ? html`<div class="field"><label for="by">Your name</label><input id="by" type="text" name="by" required maxlength="60" autocomplete="username"></div>`
    : html`<p>You are ${visit.operator}.</p>`
}
<div class="field"><label for="reason">Reason</label><input id="reason" type="text" name="reason" required maxlength="300" autocomplete="off"></div>
<p>Name, reason and outcome become facts of the log.</p>
<p><button class="primary">${title}</button> <a class="button" href="/actions">Leave it</a></p>
</form>`
}`;
  return { title: `${title}?`, body, isLive: false };
}

/** Milliseconds between a confirmation page and its form. */
const lifetimeMs = 10 * 60_000;

type Confirmations = {
  /** A token for one action, to be sent back by the form that confirms it. */
  issue: (action: string, target: string) => string;
  /** Whether a token is one for this action; each is accepted once. */
  accept: (token: string, action: string, target: string) => boolean;
};

/** Tokens of confirmation pages: a form without one, or with one of another action, does nothing. */
function openConfirmations(now: () => Date): Confirmations {
  const secret = randomBytes(32);
  const used = new Map<string, number>();
  const sign = (text: string) => createHmac("sha256", secret).update(text).digest("base64url");
  const bodyOf = (action: string, target: string, head: string) =>
    JSON.stringify([action, target, head]);
  return {
    issue(action, target) {
      const head = `${now().getTime() + lifetimeMs}.${randomBytes(9).toString("base64url")}`;
      return `${head}.${sign(bodyOf(action, target, head))}`;
    },
    accept(token, action, target) {
      const [, head = "", until = "", signature = ""] =
        /^((\d{1,16})\.[\w-]{12})\.([\w-]{43})$/.exec(token) ?? [];
      const time = now().getTime();
      for (const [one, expiry] of used) if (expiry < time) used.delete(one);
      if (!isSameToken(signature, sign(bodyOf(action, target, head)))) return false;
      if (Number(until) < time || used.has(head)) return false;
      used.set(head, Number(until));
      return true;
    },
  };
}
