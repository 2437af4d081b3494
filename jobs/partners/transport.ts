import { LRUCache } from "lru-cache";
import { Agent } from "undici";
import { reject } from "#projections/domain/rejection.ts";
import type { CallOutcome } from "#projections/log/outgoing-calls.ts";
import { publishBudget, publishCall } from "../outgoing-calls.ts";
import { createCooldowns } from "../runner/limits.ts";
import type { PartnerFailure } from "./partner.ts";
import {
  type PartnerRequest,
  type PartnerResponse,
  type RequestOutcome,
  sendRequest,
} from "./send-request.ts";

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
  clock?: TransportClock;
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

/** A driver's code or name of an error, as `UND_ERR_SOCKET` and `SocketError`, says nothing to a caller: a single word. */
function plainReason(reason: string): string {
  if (/timeout|timedout/i.test(reason)) return "no answer in time";
  return /^\S+$/.test(reason) ? "the connection failed" : reason;
}

/** Time source of the transport, in milliseconds. */
export type TransportClock = { now(): number; sleep(ms: number): Promise<void> };

const systemClock: TransportClock = {
  now: () => performance.now(),
  sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
};

type RateLimiter = {
  /** Waits for a slot, at most `waitMs`. `retryInMs`: the next slot is later than that. */
  take(waitMs: number): Promise<{ granted: true } | { granted: false; retryInMs: number }>;
  /** The limit, and in how many milliseconds the whole burst is possible again and a pause ends. */
  state(): { perMinute: number; burst: number; restoredInMs: number; pausedForMs: number };
  /** Grants nothing for `ms`. */
  pauseFor(ms: number): void;
};

/** After a minute without requests all of the burst is there again. */
const maxSpreadMs = 60_000;

/**
 * At most `perMinute` requests in any 60 seconds, `burst` of them at once (a tenth) (generic cell rate algorithm). Slots are
 * granted in call order, a fixed step apart, and may be used early while the burst lasts.
 */
function createRateLimiter(
  perMinute: number,
  clock: TransportClock,
  burst: number = Math.max(1, Math.floor(perMinute / 10)),
): RateLimiter {
  const stepMs = 60_000 / Math.max(1, perMinute - burst);
  const burstMs = (burst - 1) * stepMs;
  let nextSlot = Number.NEGATIVE_INFINITY;
  let pausedUntil = Number.NEGATIVE_INFINITY;
  /** In a row. Each reports a slot of its own: all of a bulk call would come back for the first one. */
  let refusals = 0;
  const refuse = (waitMs: number) => {
    const retryInMs = waitMs + Math.min(refusals * stepMs, maxSpreadMs);
    refusals += 1;
    return { granted: false, retryInMs } as const;
  };
  return {
    async take(atMostMs) {
      const now = clock.now();
      const at = Math.max(now, pausedUntil, nextSlot - burstMs);
      if (at - now > atMostMs) return refuse(at - now);
      refusals = 0;
      nextSlot = Math.max(nextSlot, at) + stepMs;
      const endsAt = now + atMostMs;
      for (let until = at; until > clock.now(); until = pausedUntil) {
        // A pause may start while waiting for the slot.
        if (until > endsAt) return refuse(until - clock.now());
        await clock.sleep(until - clock.now());
      }
      return { granted: true };
    },
    state() {
      const now = clock.now();
      const restoredInMs = Math.max(0, nextSlot - now);
      return { perMinute, burst, restoredInMs, pausedForMs: Math.max(0, pausedUntil - now) };
    },
    pauseFor(ms) {
      pausedUntil = Math.max(pausedUntil, clock.now() + ms);
    },
  };
}

const failuresUntilOpen = 5;

/**
 * Opens after five failures in a row. After a wait one request probes the partner: success closes the circuit, failure
 * doubles the wait, up to a minute. One of the methods below must be called for each request that may be made.
 */
function createCircuitBreaker(clock: TransportClock) {
  const pauses = { firstMs: 5_000, mostMs: 60_000 };
  const waits = createCooldowns<0>({
    ...{ now: () => clock.now(), failuresUntilCooldown: failuresUntilOpen, ...pauses },
  });
  const isOpen = () => waits.failures(0) >= failuresUntilOpen;
  let isProbing = false;
  const end = () => {
    isProbing = false;
  };
  return {
    tryEnter(): boolean {
      if (!isOpen()) return true;
      if (isProbing || waits.isCoolingDown(0)) return false;
      isProbing = true;
      return true;
    },
    recordSuccess(): void {
      waits.recordSuccess(0);
      end();
    },
    recordFailure(): void {
      // Of requests that were under way when it opened none counts.
      if (isProbing || !isOpen()) waits.recordFailure(0);
      end();
    },
    /** The request was not made. */
    cancel: end,
  };
}

type Budget = PartnerRequest["budget"];
type EndedRequest = {
  marketplace: string;
  budget: Budget;
  outcome: RequestOutcome;
  limiters: Readonly<Record<Budget, RateLimiter>>;
};

/** Counts a request that was sent, and what is left of the budgets after it. */
function countRequest({ marketplace, budget, outcome, limiters }: EndedRequest): void {
  const key = { kind: "partner", target: marketplace, host: "", method: budget } as const;
  const fault = "fault" in outcome ? { message: outcome.fault } : {};
  publishCall({ ...key, outcome: outcomeOf(outcome), ...fault });
  const now = Date.now();
  for (const name of ["read", "act"] as const) {
    const { perMinute, burst, restoredInMs, pausedForMs } = limiters[name].state();
    publishBudget({
      marketplace,
      budget: name,
      perMinute,
      burst,
      restoredAt: new Date(now + restoredInMs),
      pausedUntil: pausedForMs > 0 ? new Date(now + pausedForMs) : null,
    });
  }
}

function outcomeOf(outcome: RequestOutcome): CallOutcome {
  if (!("fault" in outcome)) return "answered";
  if (outcome.retryAfterMs !== undefined) return "limited";
  return outcome.status === undefined ? "no_answer" : "refused";
}
