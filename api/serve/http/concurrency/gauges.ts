import { Counter, Gauge, type Registry } from "prom-client";
import type { ClassFigures, ConcurrencyLimiter } from "./concurrency-limiter.ts";
import { loadClasses } from "./load-class.ts";
import type { SlowRequests } from "./slow-requests.ts";

/** Metrics of this process's concurrency limits. */
export function gaugeConcurrency(
  registry: Registry,
  { figures }: Pick<ConcurrencyLimiter, "figures">,
): void {
  const shared = { labelNames: ["class" as const], registers: [registry] };
  const each = (set: (labels: { class: string }, of: ClassFigures) => void) => {
    const all = figures();
    for (const loadClass of loadClasses) set({ class: loadClass }, all[loadClass]);
  };
  new Gauge({
    ...shared,
    name: "http_requests_in_flight",
    help: "Requests in progress",
    collect() {
      each((labels, { inFlight }) => this.set(labels, inFlight));
    },
  });
  new Gauge({
    ...shared,
    name: "http_requests_waiting",
    help: "Requests that wait for a slot",
    collect() {
      each((labels, { waiting }) => this.set(labels, waiting));
    },
  });
  new Counter({
    ...shared,
    name: "http_requests_shed_total",
    help: "Requests answered with 503, or left by their caller, before they got a slot",
    collect() {
      this.reset();
      each((labels, { shed }) => this.inc(labels, shed));
    },
  });
}

export function gaugeSlowRequests(
  registry: Registry,
  { resting }: Pick<SlowRequests, "resting">,
): void {
  new Gauge({
    name: "http_requests_resting",
    help: "Requests, by path and parameters, that are refused for a while as they took too long",
    registers: [registry],
    collect() {
      this.set(resting());
    },
  });
}
