import { LRUCache } from "lru-cache";
import { Agent } from "undici";
import { reject } from "#projections/domain/rejection.ts";
import { createCircuitBreaker } from "./circuit-breaker.ts";
import { countRequest } from "./count-requests.ts";
import type { PartnerFailure } from "./partner.ts";
import { type Clock, createRateLimiter, type RateLimiter, systemClock } from "./rate-limiter.ts";
import { type PartnerRequest, type PartnerResponse, type RequestOutcome, sendRequest } from "./send-request.ts";

/** How long the caller can wait. */
export type Timeouts = {
  /** One request, including the body. */
  timeoutMs: number;
  /** Wait for the rate limiter, including the partner's `Retry-After`. */
  waitMs: number;
  /** Maximum requests for one call. */
  attempts: number;
};

/** For requests with a waiting caller, and for background jobs. */
export const interactive: Timeouts = { timeoutMs: 5_000, waitMs: 2_000, attempts: 2 };
export const background: Timeouts = { timeoutMs: 20_000, waitMs: 60_000, attempts: 4 };

export type TransportOptions = {
  /** The partner's name in failure messages. */
  name: string;
  /** Its name in counts of requests; `name` without it. */
  marketplace?: string;
  url: string;
  /** Sent with every request, never logged. */
  headers: Readonly<Record<string, string>>;
  requestsPerMinute: number;
  timeouts: Timeouts;
  clock?: Clock;
  random?: () => number;
};

export type Transport = {
  /** The partner's response with any status from 200 to 499 except 401, 403 and 429. */
  send(request: PartnerRequest): Promise<PartnerResponse | PartnerFailure>;
  close(): Promise<void>;
};

const initialBackoffMs = 500;
/** Wait after a rate limit response without `Retry-After`. */
const defaultCooldownMs = 5_000;
const maxCooldownMs = 3_600_000;
/** A bulk call of the largest size for callers, at once, where the limit per minute allows it. */
const actBurst = 20;
/** Callers whose shares are known: a third of a budget for a minute, which may be used at once. */
const maxCallers = 10_000;
/** None of a bulk call waits for another: the time that a request may take includes waiting for a connection. */
const maxConnections = actBurst;

/**
 * HTTP client of one partner: rate limited, with retries and a circuit breaker. Concurrent equal reads share one
 * request.
 */
export function openTransport(options: TransportOptions): Transport {
  const { name, requestsPerMinute, timeouts, clock = systemClock, random = Math.random } = options;
  const { marketplace = name } = options;
  const { timeoutMs } = timeouts;
  const base = options.url.replace(/\/+$/, "");
  const dispatcher = new Agent({ connections: maxConnections, connect: { timeout: timeoutMs } });
  const breaker = createCircuitBreaker(clock);
  const actsPerMinute = Math.ceil(requestsPerMinute / 2);
  const limiters = {
    read: createRateLimiter(requestsPerMinute, clock),
    act: createRateLimiter(actsPerMinute, clock, Math.min(actBurst, Math.ceil(actsPerMinute / 2))),
  };
  const thirds = { read: Math.ceil(requestsPerMinute / 3), act: Math.ceil(actsPerMinute / 3) };
  const shares = new LRUCache<string, RateLimiter>({ max: maxCallers });
  const shareOf = (caller: string, budget: PartnerRequest["budget"]): RateLimiter => {
    const key = `${budget} ${caller}`;
    const third = thirds[budget];
    const share = shares.get(key) ?? createRateLimiter(2 * third, clock, third);
    shares.set(key, share);
    return share;
  };
  const inFlight = new Map<string, Promise<PartnerResponse | PartnerFailure>>();

  /** For callers: without paths of the partner, which are none of theirs, and without codes of the driver. */
  const failure = (reason: string): PartnerFailure =>
    reject("upstream_error", `${name} did not answer: ${plainReason(reason)}`);

  const rationed = (seconds: number): PartnerFailure => ({
    ...reject(
      "partner_rate_limited",
      `Requests to ${name} are limited; the next one is possible in ${seconds} s`,
    ),
    retryAfterSeconds: seconds,
  });

  type Rationed = { fault: string; isRetryable: false; retryAfterSeconds: number };
  async function tryOnce(request: PartnerRequest): Promise<RequestOutcome | Rationed> {
    if (!breaker.tryEnter()) return { fault: "circuit breaker is open", isRetryable: false };
    const slot = await takeSlot(request);
    if (!slot.granted) {
      breaker.cancel();
      const seconds = Math.max(1, Math.ceil(slot.retryInMs / 1000));
      return { fault: "rationed", isRetryable: false, retryAfterSeconds: seconds };
    }
    const outcome = await sendRequest(request, {
      base,
      headers: options.headers,
      dispatcher,
      timeoutMs,
    });
    if (!("fault" in outcome)) breaker.recordSuccess();
    else if (outcome.retryAfterMs === undefined) breaker.recordFailure();
    else coolDown(outcome.retryAfterMs);
    countRequest({ marketplace, budget: request.budget, outcome, limiters });
    return outcome;
  }

  /** A caller beyond his share waits alone. */
  async function takeSlot({ budget, caller }: PartnerRequest) {
    if (caller !== undefined) {
      const own = await shareOf(caller, budget).take(timeouts.waitMs);
      const { pausedForMs } = limiters[budget].state();
      if (!own.granted) return { ...own, retryInMs: Math.max(own.retryInMs, pausedForMs) };
    }
    return await limiters[budget].take(timeouts.waitMs);
  }

  function coolDown(retryAfterMs: number | null): void {
    breaker.recordSuccess();
    const ms = Math.min(retryAfterMs ?? defaultCooldownMs, maxCooldownMs);
    for (const budget of Object.values(limiters)) budget.pauseFor(ms);
  }

  async function ask(request: PartnerRequest): Promise<PartnerResponse | PartnerFailure> {
    for (let tries = 1; ; tries += 1) {
      const outcome = await tryOnce(request);
      if (!("fault" in outcome)) return outcome;
      if ("retryAfterSeconds" in outcome) return rationed(outcome.retryAfterSeconds);
      if (!outcome.isRetryable || tries >= timeouts.attempts) return failure(outcome.fault);
      // Random jitter, so that callers that failed together do not retry together.
      await clock.sleep(initialBackoffMs * 2 ** (tries - 1) * (0.5 + random() / 2));
    }
  }

  return {
    send(request) {
      if (request.method !== "GET") return ask(request);
      const key = JSON.stringify([request.path, request.query]);
      const known = inFlight.get(key);
      if (known !== undefined) return known;
      const promise = ask(request).finally(() => inFlight.delete(key));
      inFlight.set(key, promise);
      return promise;
    },
    close: () => dispatcher.destroy(),
  };
}

/** A driver's code, as `UND_ERR_SOCKET`, says nothing to a caller. */
function plainReason(reason: string): string {
  if (/TIMEOUT|TIMEDOUT/.test(reason)) return "no answer in time";
  return /^[A-Z][A-Z0-9_]+$/.test(reason) ? "the connection failed" : reason;
}
