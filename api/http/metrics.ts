import type { RequestHandler } from "express";
import { collectDefaultMetrics, Histogram, Registry } from "prom-client";

/** Its own registry, since other parts of the process may have theirs. */
export function openMetrics(): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  return registry;
}

/** Measures every request under its route's pattern; the raw path would create a time series per token. */
export function measureRequests(registry: Registry): RequestHandler {
  const duration = new Histogram({
    name: "http_request_duration_seconds",
    help: "Time from the request's arrival to its answer's end",
    labelNames: ["method", "route", "status"],
    buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [registry],
  });
  return (request, response, next) => {
    const stop = duration.startTimer();
    response.once("close", () => {
      // A stream ends when its client disconnects; its duration says nothing.
      if (response.locals.isStream === true) return;
      const route = String(response.locals.route ?? "unmatched");
      stop({ method: methodLabel(request.method), route, status: response.statusCode });
    });
    next();
  };
}

const methods = new Set(["GET", "HEAD", "POST", "OPTIONS", "PUT", "PATCH", "DELETE"]);

function methodLabel(method: string): string {
  return methods.has(method) ? method : "other";
}
