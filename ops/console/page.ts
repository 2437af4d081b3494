import type { Request, Response } from "express";
import type { Logger } from "pino";
import { requestIdOf } from "#api/http/request.ts";
import { type Html, html } from "#api/pages/kit/html.ts";
import { plainText } from "#api/pages/kit/text.ts";
import type { Database } from "#projections/log/database.ts";
import type { InspectedConfig } from "../reports/inspected-config.ts";
import type { FetchChainHead } from "../reports/read-status.ts";
import type { MeasureRebuilds, ReadProblems, ReadProcesses } from "./figures.ts";
import { operatorOf } from "./guard.ts";
import type { RunOperation } from "./operations.ts";

/** Serves a page. A fault is logged, and its page names the request. */
export function serveConsolePage(context: ConsoleContext, handle: ConsolePage) {
  return async (request: Request, response: Response): Promise<void> => {
    try {
      sendConsolePage(request, response, context.now(), await handle(visitOf(context, request)));
    } catch (error) {
      const requestId = requestIdOf(response);
      context.logger.error({ err: error, requestId, path: request.path }, "page failed");
      sendConsolePage(request, response, context.now(), failed(requestId));
    }
  };
}

export function sendConsolePage(
  request: Request,
  response: Response,
  now: Date,
  content: ConsoleContent,
): void {
  const { text } = layout({ ...content, path: request.path, now });
  response
    .status(content.status ?? 200)
    .type("html")
    .end(text);
}

function visitOf(context: ConsoleContext, request: Request): ConsoleVisit {
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

const failed = (requestId: string): ConsoleContent => ({
  title: "This page failed",
  status: 500,
  body: html`<section class="refused"><h1>This page failed</h1><p>The cause is in the log, under request ${requestId}. <a href="">Try again</a></p></section>`,
});

/** A request for a page. */
export type ConsoleVisit = ConsoleContext & {
  /** A parameter of the path or the query; empty where there is none. */
  readonly parameter: (name: string) => string;
  /** The name that goes with the password; null without one. */
  readonly operator: string | null;
};

export type ConsoleContent = {
  readonly title: string;
  readonly body: Html | readonly Html[];
  /** Whether an open page is kept current; pages with forms are not. */
  readonly isLive?: boolean;
  readonly status?: number;
};

export type ConsolePage = (visit: ConsoleVisit) => Promise<ConsoleContent>;

/** A page that says that something does not exist. */
export const notFoundPage = (title: string, body: Html): ConsoleContent => ({
  title,
  body,
  status: 404,
});

/** What pages and actions of the console work with. */
export type ConsoleContext = {
  readonly db: Database;
  readonly config: InspectedConfig;
  readonly fetchHead: FetchChainHead;
  readonly readProblems: ReadProblems;
  readonly measureRebuilds: MeasureRebuilds;
  readonly logger: Logger;
  readonly now: () => Date;
  /** Null where no supervisor runs commands for this process. */
  readonly runOperation: RunOperation | null;
  /** Null likewise. */
  readonly readProcesses: ReadProcesses | null;
};

const menu = [
  ["/", "Overview"],
  ["/chains", "Chains"],
  ["/log", "Log"],
  ["/projections", "Projections"],
  ["/work", "Work"],
  ["/upstream", "Nodes and partners"],
  ["/callers", "Callers"],
  ["/database", "Database"],
  ["/actions", "Actions"],
] as const;

type Layout = ConsoleContent & { readonly path: string; readonly now: Date };

/** A complete page of the console. */
function layout({ title, body, isLive = true, path, now }: Layout): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${plainText(title)} · Operator's console</title>
<link rel="icon" href="/assets/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/assets/console.css">
<script type="module" src="/assets/console.js"></script>
</head>
<body${isLive && html` data-refresh`}>
<a class="skip" href="#content">Skip to content</a>
<header class="bar"><div>
<a class="brand" href="/">Operator's console</a>
<nav class="menu" aria-label="Main">${menu.map(([href, text]) => html`<a href="${href}"${isCurrent(path, href) && html` aria-current="page"`}>${text}</a>`)}</nav>
<button type="button" id="refresh" hidden>Pause</button>
</div></header>
<main id="content">
${body}
</main>
<footer><div><p>As of <time id="as-of" datetime="${now.toISOString()}">${now.toISOString().slice(0, 19).replace("T", " ")} UTC</time>. <a href="/metrics">Metrics</a> · <a href="/readyz">Readiness</a></p></div></footer>
</body>
</html>
`;
}

const isCurrent = (path: string, href: string): boolean =>
  href === "/" ? path === "/" : path === href || path.startsWith(`${href}/`);
