import { LRUCache } from "lru-cache";
import { Counter, Gauge, type Registry } from "prom-client";
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

/** The first rest, which doubles with each further timeout up to the longest. */
const firstRestMs = 15_000;
const maxRestMs = 600_000;
/** Requests remembered; the least recently asked is dropped first. */
const maxRequests = 10_000;

type Rest = { readonly ms: number; readonly until: number };

/** Remembers the reads that took too long, by path and parameters: repeating one costs the database nothing. */
export function openSlowRequests(nowMs: () => number = () => performance.now()): SlowRequests {
  const rests = new LRUCache<string, Rest>({ max: maxRequests });
  const secondsUntil = (until: number) => Math.max(1, Math.ceil((until - nowMs()) / 1_000));

  return {
    async read(address, work) {
      const key = keyOf(address);
      const known = rests.get(key);
      if (known !== undefined && nowMs() < known.until)
        throw new ReadTimedOut(secondsUntil(known.until));
      try {
        const result = await work();
        rests.delete(key);
        return result;
      } catch (error) {
        if (!isStatementTimeout(error)) throw error;
        const ms = Math.min(maxRestMs, known === undefined ? firstRestMs : 2 * known.ms);
        const until = nowMs() + ms;
        rests.set(key, { ms, until });
        throw new ReadTimedOut(secondsUntil(until), { cause: error });
      }
    },
    resting: () => [...rests.values()].filter(({ until }) => nowMs() < until).length,
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
