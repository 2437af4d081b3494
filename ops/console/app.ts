import { join } from "node:path";
import express, { type Express, type RequestHandler } from "express";
import { servePath } from "#api/http/mount.ts";
import { assignRequestId } from "#api/http/request.ts";
import {
  answerFaults,
  mountAssets,
  sharedAsset,
  websiteHeaders,
} from "#api/pages/kit/serve-website.ts";
import { answerHealth, answerReadiness } from "#api/status/operator-app.ts";
import type { StatusReader } from "#api/status/status-reader.ts";
import { mountActions } from "./actions.ts";
import { callersPage } from "./callers.ts";
import { chainsPage } from "./chains.ts";
import { databasePage } from "./database.ts";
import { endpointsPage } from "./endpoints.ts";
import { factPage, rowPage } from "./fact.ts";
import { guard } from "./guard.ts";
import { logPage } from "./log.ts";
import { overviewPage } from "./overview.ts";
import {
  type ConsoleContext,
  type ConsolePage,
  consoleSite,
  refusalContent,
  sendConsolePage,
  serveConsolePage,
} from "./page.ts";
import { projectionsPage } from "./projections.ts";
import { upstreamPage } from "./upstream.ts";
import { workPage } from "./work.ts";

type ConsoleOptions = {
  readonly context: ConsoleContext;
  readonly readStatus: StatusReader;
};

const assetOf = (name: string): string => join(import.meta.dirname, "assets", name);
const styles = [
  ...["base.css", "parts.css", "charts.css"].map(sharedAsset),
  assetOf("console.css"),
];

const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#2b3442"/><path d="M6 20h5l3-9 5 13 3-8h4" fill="none" stroke="#8fb0ff" stroke-width="3" stroke-linecap="round" stroke-linejoin="round"/></svg>
`;

/** The operator's console. */
export function createConsole({ context, readStatus }: ConsoleOptions): Express {
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
  servePath(app, "/metrics", { get: [passOnMetrics(context)] });
  servePath(app, "/readyz", { get: [answerReadiness(readStatus, "operators")] });
  for (const [path, handler] of pages) {
    servePath(app, path, { get: [serveConsolePage(context, handler)] });
  }
  mountActions(app, context);
  const files = { icon, styles, script: assetOf("console.js") };
  mountAssets(app, consoleSite, files);
  const way = ["/", "Overview"] as const;
  app.use((request, response) => {
    const why = "There is no page at this address.";
    const content = refusalContent({ title: "Not found", why, status: 404, way });
    sendConsolePage(request, response, context.now(), content);
  });
  app.use(
    answerFaults(context.logger, (request, response, fault) => {
      sendConsolePage(request, response, context.now(), refusalContent({ ...fault, way }));
    }),
  );
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
  ["/endpoints", endpointsPage],
  ["/callers", callersPage],
  ["/database", databasePage],
];

/** For all answers of the console: not stored, and scripts, styles and forms of its own only. */
const consoleHeaders = websiteHeaders({
  cacheControl: "no-store",
  // Without a referrer browsers send "null" as the origin of a form.
  referrer: "same-origin",
  sources: { "connect-src": ["'self'"] },
});

/** Answers with what another listener of this service answers. */
function passOnMetrics({ fetchMetrics }: Pick<ConsoleContext, "fetchMetrics">): RequestHandler {
  return async (_request, response) => {
    const answer = await fetchMetrics();
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
