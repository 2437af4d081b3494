import express, { type Express, type RequestHandler } from "express";
import type { Logger } from "pino";
import type { Registry } from "prom-client";
import { handleErrors, handleUnknownPath } from "../http/failures/error-handlers.ts";
import { servePath } from "../http/mount.ts";
import { assignRequestId } from "../http/request-id.ts";
import { dataHeaders } from "../http/security.ts";
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

/** Prometheus' text format. */
export function answerMetrics(metrics: Registry): RequestHandler {
  return async (_request, response) => {
    const text = await metrics.metrics();
    response.set({ "Content-Type": metrics.contentType, "Cache-Control": "no-store" }).end(text);
  };
}
