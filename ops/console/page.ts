import type { Request, Response } from "express";
import type { Logger } from "pino";
import { asOf, menuLink, pageDocument, refusal, type Website } from "#api/pages/kit/document.ts";
import { type Html, html } from "#api/pages/kit/html.ts";
import { type PageInput, pageInputOf } from "#api/pages/kit/page-input.ts";
import { sendHtml } from "#api/pages/kit/serve-website.ts";
import type { Database } from "#projections/log/database.ts";
import type { InspectedConfig } from "../reports/inspected-config.ts";
import type { FetchChainHead } from "../reports/read-status.ts";
import type { MeasureRebuilds, ReadProblems, ReadProcesses } from "./figures.ts";
import { operatorOf } from "./guard.ts";
import type { RunOperation } from "./operations.ts";

/** Serves a page. */
export function serveConsolePage(context: ConsoleContext, handle: ConsolePage) {
  return async (request: Request, response: Response): Promise<void> => {
    const operator = operatorOf(request);
    const visit = { ...context, ...pageInputOf(request), operator };
    sendConsolePage(request, response, context.now(), await handle(visit));
  };
}

export function sendConsolePage(
  { path }: Request,
  response: Response,
  now: Date,
  content: ConsoleContent,
): void {
  sendHtml(response, layout({ ...content, path, now }), content.status);
}

/** A request for a page. */
export type ConsoleVisit = ConsoleContext &
  PageInput & {
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

type Refusal = {
  readonly title: string;
  readonly why: string | Html;
  readonly status: number;
  /** The page to go on with. */
  readonly way: readonly [href: string, text: string];
};

/** A page that says why something is not shown or not done. */
export const refusalContent = ({
  title,
  why,
  status,
  way: [href, text],
}: Refusal): ConsoleContent => ({
  title,
  status,
  isLive: status >= 500,
  body: refusal(title, why, html`<p><a href="${href}">${text}</a></p>`),
});

/** What pages and actions of the console work with. */
export type ConsoleContext = {
  readonly db: Database;
  readonly config: InspectedConfig;
  readonly fetchHead: FetchChainHead;
  readonly readProblems: ReadProblems;
  readonly measureRebuilds: MeasureRebuilds;
  /** What the API answers at its `/metrics`; null: nothing. */
  readonly fetchMetrics: () => Promise<globalThis.Response | null>;
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
  ["/endpoints", "Endpoints"],
  ["/callers", "Callers"],
  ["/database", "Database"],
  ["/actions", "Actions"],
] as const;

type Layout = ConsoleContent & { readonly path: string; readonly now: Date };

export const consoleSite: Website = {
  name: "Operator's console",
  assets: "/assets",
  files: "console",
};

/** A complete page of the console. */
const layout = ({ title, body, isLive = true, path, now }: Layout): Html =>
  pageDocument(consoleSite, {
    title,
    body,
    home: "/",
    bodyAttributes: isLive && html` data-refresh`,
    bar: html`<nav class="menu" aria-label="Main">${menu.map(([href, text]) => menuLink(href, text, isCurrent(path, href)))}</nav>
<button type="button" id="refresh" hidden>Stop refreshing</button>`,
    footer: html`<p>${asOf(now)} <a href="/metrics">Metrics</a> · <a href="/readyz">Readiness</a></p>`,
  });

const isCurrent = (path: string, href: string): boolean =>
  href === "/" ? path === "/" : path === href || path.startsWith(`${href}/`);
