import { Counter, Gauge, type Registry } from "prom-client";
import { createCooldowns } from "#jobs/runner/limits.ts";
import { isStatementTimeout } from "#projections/log/database-failure.ts";
import { type ClassFigures, type ConcurrencyLimiter, loadClasses } from "./concurrency.ts";
import { splitAddress } from "./reads/position.ts";

/** A read was ended for the time that it took, or is refused because it was before. */
export class ReadTimedOut extends Error {
  readonly retryAfterSeconds: number;

  constructor(retryAfterSeconds: number, options?: ErrorOptions) {
    super("the read took too long", options);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

export type SlowRequests = {
  /**
   * Runs a read unless the same request timed out a moment ago. Throws `ReadTimedOut` with the seconds for which it is
   * refused without being tried.
   */
  read<Result>(address: string, work: () => Promise<Result>): Promise<Result>;
  /** Requests that are refused at present. */
  resting(): number;
};

const rest = { firstMs: 15_000, mostMs: 600_000, failuresUntilCooldown: 1 };

/** Remembers the reads that took too long, by path and parameters: repeating one costs the database nothing. */
export function openSlowRequests(nowMs: () => number = () => performance.now()): SlowRequests {
  const rests = createCooldowns<string>({ now: nowMs, ...rest });
  const secondsOf = (key: string) => Math.max(1, Math.ceil(rests.remainingMs(key) / 1_000));

  return {
    async read(address, work) {
      const key = keyOf(address);
      if (rests.isCoolingDown(key)) throw new ReadTimedOut(secondsOf(key));
      try {
        const result = await work();
        rests.recordSuccess(key);
        return result;
      } catch (error) {
        if (!isStatementTimeout(error)) throw error;
        // Of reads that ran at once, the first counts.
        if (!rests.isCoolingDown(key)) rests.recordFailure(key);
        throw new ReadTimedOut(secondsOf(key), { cause: error });
      }
    },
    resting: () => rests.coolingDown().length,
  };
}

/** Parameters in any order are the same request. */
function keyOf(address: string): string {
  const [path, query] = splitAddress(address);
  return `${path}?${query.split("&").sort().join("&")}`;
}

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
