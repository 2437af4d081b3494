import express, { type Express, type Request, type RequestHandler, type Response } from "express";
import { appendActionEnded, appendActionStarted } from "#projections/log/operators.ts";
import { html } from "#api/pages/kit/html.ts";
import { servePath } from "#api/http/mount.ts";
import type { ConsoleContext } from "../console-context.ts";
import { isOwnForm, operatorOf } from "../page/guard.ts";
import { sendPage, servePage, textOf } from "../page/serve-page.ts";
import type { PageContent } from "../page/visit.ts";
import { actionsPage } from "./actions-page.ts";
import { confirmPage } from "./confirm-page.ts";
import { openConfirmations } from "./confirmations.ts";
import { type Action, findAction, type Outcome } from "./known-actions.ts";

const readForm = express.urlencoded({ extended: false, limit: 8_192, parameterLimit: 20 });

/** Serves the page that asks for a confirmation, and the form on it, which alone starts an action. */
export function mountActions(app: Express, context: ConsoleContext): void {
  const confirmations = openConfirmations(context.now);
  servePath(app, "/actions/new", {
    get: [servePage(context, async (visit) => confirmPage(visit, confirmations.issue))],
  });
  const refuse = (request: Request, response: Response, title: string, why: string) =>
    sendPage(request, response, context.now(), refused(title, why));
  const ownFormsOnly: RequestHandler = (request, response, next) => {
    if (isOwnForm(request)) next();
    else
      refuse(
        request,
        response,
        "This form was refused",
        "It was not sent from a page of this console.",
      );
  };
  const submit: RequestHandler = async (request, response) => {
    const field = (name: string) => textOf(request.body, name).trim();
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
    const who = { action: name, arguments: action.command, by, address, reason };
    const id = await appendActionStarted(context.db, who);
    const ended = runAction(context, id, action, action.run);
    if (!action.isLong) await ended;
    response.status(303).set("Location", "/actions").end();
  };
  servePath(app, "/actions", {
    get: [servePage(context, actionsPage)],
    post: [ownFormsOnly, readForm, submit],
  });
}

/** Runs an action and appends its outcome. Never rejects. */
async function runAction(
  { db, logger }: ConsoleContext,
  id: string,
  { command }: Action,
  run: (id: string) => Promise<Outcome>,
): Promise<void> {
  try {
    const outcome = await run(id).catch((error: unknown) => ({
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
  }
}

const refused = (title: string, why: string): PageContent => ({
  title,
  status: 403,
  isLive: false,
  body: html`<section class="refused"><h1>${title}</h1><p>${why}</p><p><a href="/actions">Actions</a></p></section>`,
});
