import { readFileSync } from "node:fs";
import { join } from "node:path";
import express, { type Express, type RequestHandler } from "express";
import helmet from "helmet";
import { handleErrors } from "#api/http/failures.ts";
import { servePath } from "#api/http/mount.ts";
import { assignRequestId } from "#api/http/request.ts";
import { pagePolicy } from "#api/http/security.ts";
import { html } from "#api/pages/kit/html.ts";
import { answerHealth, answerReadiness } from "#api/status/operator-app.ts";
import type { StatusReader } from "#api/status/status-reader.ts";
import { mountActions } from "./actions.ts";
import { callersPage } from "./callers.ts";
import { chainsPage } from "./chains.ts";
import { databasePage } from "./database.ts";
import { factPage, rowPage } from "./fact.ts";
import { guard } from "./guard.ts";
import { logPage } from "./log.ts";
import { overviewPage } from "./overview.ts";
import {
  type ConsoleContext,
  type ConsolePage,
  notFoundPage,
  sendConsolePage,
  serveConsolePage,
} from "./page.ts";
import { projectionsPage } from "./projections.ts";
import { upstreamPage } from "./upstream.ts";
import { workPage } from "./work.ts";

type ConsoleOptions = {
  readonly context: ConsoleContext;
  readonly readStatus: StatusReader;
  /** Where the API serves its metrics. */
  readonly metricsUrl: string;
};

const site = "../../api/pages/assets";
const styles = [
  `${site}/base.css`,
  `${site}/parts.css`,
  `${site}/charts.css`,
  "assets/console.css",
];
const readAsset = (path: string): string => readFileSync(join(import.meta.dirname, path), "utf8");

const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#2b3442"/><path d="M6 20h5l3-9 5 13 3-8h4" fill="none" stroke="#8fb0ff" stroke-width="3" stroke-linecap="round" stroke-linejoin="round"/></svg>
`;

/** The operator's console. */
export function createConsole({ context, readStatus, metricsUrl }: ConsoleOptions): Express {
  const { password } = context.config.console;
  const app = express();
  app.disable("x-powered-by");
  app.set("etag", false);
  app.use((request, response, next) => {
    assignRequestId(request, response);
    next();
  }, consoleHeaders);
  servePath(app, "/healthz", { get: [answerHealth] });
  app.use(guard({ password, now: context.now }));
  servePath(app, "/metrics", { get: [passOn(metricsUrl)] });
  servePath(app, "/readyz", { get: [answerReadiness(readStatus, "operators")] });
  for (const [path, handler] of pages) {
    servePath(app, path, { get: [serveConsolePage(context, handler)] });
  }
  mountActions(app, context);
  const assets = [
    ["console.css", "text/css; charset=utf-8", styles.map(readAsset).join("")],
    ["console.js", "text/javascript; charset=utf-8", readAsset("assets/console.js")],
    ["icon.svg", "image/svg+xml", icon],
  ] as const;
  for (const [name, type, text] of assets) {
    servePath(app, `/assets/${name}`, {
      get: [(_request, response) => void response.type(type).end(text)],
    });
  }
  app.use((request, response) => {
    const body = html`<section class="refused"><h1>There is no such page</h1><p><a href="/">Overview</a></p></section>`;
    sendConsolePage(request, response, context.now(), notFoundPage("No such page", body));
  });
  app.use(handleErrors(context.logger));
  return app;
}

/** The console's pages; `/actions` and its forms are in `actions.ts`. */
const pages: readonly (readonly [path: string, handler: ConsolePage])[] = [
  ["/", overviewPage],
  ["/chains", chainsPage],
  ["/log", logPage],
  ["/log/row", rowPage],
  ["/log/{position}", factPage],
  ["/projections", projectionsPage],
  ["/work", workPage],
  ["/upstream", upstreamPage],
  ["/callers", callersPage],
  ["/database", databasePage],
];

const secure = helmet({
  contentSecurityPolicy: pagePolicy({
    "img-src": ["'self'"],
    "connect-src": ["'self'"],
    "form-action": ["'self'"],
  }),
  // Without a referrer browsers send "null" as the origin of a form.
  referrerPolicy: { policy: "same-origin" },
});

/** For all answers of the console: not stored, and scripts, styles and forms of its own only. */
const consoleHeaders: RequestHandler = (request, response, next) => {
  response.set("Cache-Control", "no-store");
  secure(request, response, next);
};

/** Milliseconds for the other listener to answer. */
const timeoutMs = 5_000;

/** Answers with what another listener of this service answers. */
function passOn(url: string): RequestHandler {
  return async (_request, response) => {
    const answer = await fetch(url, { signal: AbortSignal.timeout(timeoutMs) }).catch(() => null);
    if (answer === null) {
      response.status(502).type("text").end("The API does not answer\n");
      return;
    }
    response
      .status(answer.status)
      .set("Content-Type", answer.headers.get("content-type") ?? "text/plain; charset=utf-8")
      .end(await answer.text());
  };
}
