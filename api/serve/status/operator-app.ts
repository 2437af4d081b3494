import express, { type Express, type RequestHandler } from "express";
import type { Logger } from "pino";
import type { Registry } from "prom-client";
import { handleErrors, handleUnknownPath } from "#api/http/failures.ts";
import { servePath } from "#api/http/mount.ts";
import { assignRequestId } from "#api/http/request.ts";
import { dataHeaders } from "#api/http/security.ts";
import { answerHealth, answerReadiness } from "./readiness.ts";
import type { StatusReader } from "./status-reader.ts";

export type OperatorAppOptions = {
  readonly metrics: Registry;
  readonly readStatus: StatusReader;
  readonly logger: Logger;
};

/** The app of the operator's listener: metrics, and readiness that names nodes. */
export function createOperatorApp({ metrics, readStatus, logger }: OperatorAppOptions): Express {
  const app = express();
  app.disable("x-powered-by");
  app.set("etag", false);
  app.use((request, response, next) => {
    assignRequestId(request, response);
    next();
  }, dataHeaders);
  servePath(app, "/metrics", { get: [answerMetrics(metrics)] });
  servePath(app, "/readyz", { get: [answerReadiness(readStatus, "operators")] });
  servePath(app, "/healthz", { get: [answerHealth] });
  app.use(handleUnknownPath);
  app.use(handleErrors(logger));
  return app;
}

/** Prometheus' text format. For `keptMs` an answer is given again: collecting asks the database. */
export function answerMetrics(metrics: Registry, keptMs = 0): RequestHandler {
  let kept: { readonly until: number; readonly text: Promise<string> } | undefined;
  const collect = (): Promise<string> => {
    const now = performance.now();
    if (kept !== undefined && now < kept.until) return kept.text;
    const text = metrics.metrics();
    kept = { until: now + keptMs, text };
    text.catch(() => {
      kept = undefined;
    });
    return text;
  };
  return async (_request, response) => {
    const text = await collect();
    response.set({ "Content-Type": metrics.contentType, "Cache-Control": "no-store" }).end(text);
  };
}
