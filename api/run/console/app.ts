import { readFileSync } from "node:fs";
import { join } from "node:path";
import express, { type Express } from "express";
import { html } from "#api/pages/kit/html.ts";
import { handleErrors } from "#api/http/failures.ts";
import { servePath } from "#api/http/mount.ts";
import { assignRequestId } from "#api/http/request.ts";
import { answerHealth, answerReadiness } from "#api/status/operator-app.ts";
import type { StatusReader } from "#api/status/status-reader.ts";
import { mountActions } from "./actions/mount-actions.ts";
import type { ConsoleContext } from "./console-context.ts";
import { guard } from "./page/guard.ts";
import { consoleHeaders } from "./page/headers.ts";
import { passOn } from "./page/pass-on.ts";
import { sendPage, servePage } from "./page/serve-page.ts";
import { unknown } from "./page/visit.ts";
import { pages } from "./pages.ts";

export type ConsoleOptions = {
  readonly context: ConsoleContext;
  readonly readStatus: StatusReader;
  /** Where the API serves its metrics. */
  readonly metricsUrl: string;
};

const site = "../../pages/assets";
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
    servePath(app, path, { get: [servePage(context, handler)] });
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
    sendPage(request, response, context.now(), unknown("No such page", body));
  });
  app.use(handleErrors(context.logger));
  return app;
}
