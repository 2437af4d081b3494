import express, { type Express, type RequestHandler } from "express";
import type { Logger } from "pino";
import type { Registry } from "prom-client";
import { reject } from "#projections/domain/rejection.ts";
import { sendRejection } from "../http/answer.ts";
import { handleErrors, handleUnknownPath } from "../http/failures.ts";
import { unavailableSeconds } from "../http/handler.ts";
import { servePath } from "../http/mount.ts";
import { assignRequestId } from "../http/request.ts";
import { dataHeaders } from "../http/security.ts";
import { type Listening, listen } from "../http/server.ts";
import { maskFinding, maskHosts } from "../v1/public-status.ts";
import type { ServiceStatus, Warning } from "./service-status.ts";
import type { StatusReader } from "./status-reader.ts";

type OperatorAppOptions = {
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

/** Adds the operator's listener to the public one: both close together. */
export async function listenForOperators(
  main: Listening,
  place: { readonly host: string; readonly port: number },
  options: OperatorAppOptions,
): Promise<Listening> {
  try {
    const operators = await listen(createOperatorApp(options), place.host, place.port);
    return {
      port: main.port,
      close: async () => void (await Promise.all([main.close(), operators.close()])),
    };
  } catch (error) {
    await main.close();
    throw error;
  }
}

/** The process is up, whatever the state of its dependencies. */
export const answerHealth: RequestHandler = (_request, response) => {
  response.set("Cache-Control", "no-store").json({ success: true, data: { up: true } });
};

/** 200 while every part is current, else 503 with the failing parts and their lag. Nodes are named to operators only. */
export function answerReadiness(
  readStatus: StatusReader,
  audience: "public" | "operators" = "public",
): RequestHandler {
  return async (_request, response) => {
    const status = await readStatus();
    const { failing, warnings } = audience === "public" ? maskNodes(status) : status;
    const { ready } = status;
    if (ready) {
      response.set("Cache-Control", "no-store").json({ success: true, data: { ready, warnings } });
      return;
    }
    const message = `Not ready: ${failing.map((one) => `${one.part} ${one.message}`).join("; ")}`;
    response.set("Retry-After", String(unavailableSeconds));
    sendRejection(response, 503, reject("not_ready", message), { failing, warnings });
  };
}

type Findings = Pick<ServiceStatus, "failing" | "warnings">;

/** The findings without the hosts of nodes. */
function maskNodes({ failing, warnings }: Findings) {
  return { failing: failing.map((part) => maskFinding(part)), warnings: warnings.map(maskWarning) };
}

function maskWarning(warning: Warning) {
  if ("endpoints" in warning) return maskFinding(warning);
  if (!("endpoint" in warning)) return warning;
  const { endpoint, kind, message } = warning;
  return { kind, message: maskHosts(message, [endpoint]) };
}
