import type { Request, Response } from "express";
import { html } from "#api/pages/kit/html.ts";
import { requestIdOf } from "#api/http/request.ts";
import type { ConsoleContext } from "../console-context.ts";
import { operatorOf } from "./guard.ts";
import { layout } from "./layout.ts";
import type { PageContent, PageHandler, Visit } from "./visit.ts";

/** Serves a page. A fault is logged, and its page names the request. */
export function servePage(context: ConsoleContext, handle: PageHandler) {
  return async (request: Request, response: Response): Promise<void> => {
    try {
      sendPage(request, response, context.now(), await handle(visitOf(context, request)));
    } catch (error) {
      const requestId = requestIdOf(response);
      context.logger.error({ err: error, requestId, path: request.path }, "page failed");
      sendPage(request, response, context.now(), failed(requestId));
    }
  };
}

export function sendPage(
  request: Request,
  response: Response,
  now: Date,
  content: PageContent,
): void {
  const { text } = layout({ ...content, path: request.path, now });
  response
    .status(content.status ?? 200)
    .type("html")
    .end(text);
}

function visitOf(context: ConsoleContext, request: Request): Visit {
  return {
    ...context,
    parameter: (name) => textOf(request.params, name) || textOf(request.query, name),
    operator: operatorOf(request),
  };
}

/** A field of a parsed query or form, as text. */
export function textOf(fields: unknown, name: string): string {
  if (typeof fields !== "object" || fields === null || !Object.hasOwn(fields, name)) return "";
  const value: unknown = Reflect.get(fields, name);
  return typeof value === "string" ? value.slice(0, 500) : "";
}

const failed = (requestId: string): PageContent => ({
  title: "This page failed",
  status: 500,
  body: html`<section class="refused"><h1>This page failed</h1><p>The cause is in the log, under request ${requestId}. <a href="">Try again</a></p></section>`,
});
