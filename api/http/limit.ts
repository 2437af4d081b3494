import type { Request, RequestHandler, Response } from "express";
import { isRejection, type Rejection } from "#projections/domain/rejection.ts";
import {
  type RateLimitState,
  type Refund,
  refusalCodeOf,
  registerRefund,
  sendRejection,
  setRateLimitHeaders,
} from "./answer.ts";
import {
  callerAddress,
  callerIp,
  loggedPath,
  loggedQuery,
  networkOf,
  requestIdOf,
} from "./request.ts";

/** Codes that every rate-limited path may answer with. */
export const limitRefusals = {
  invalid_key: 401,
  revoked_key: 401,
  expired_key: 401,
  address_not_allowed: 403,
  insufficient_scope: 403,
  rate_limited: 429,
} as const;

type LimitCode = keyof typeof limitRefusals;

/** The valid key of a request. `scopes` null: everything. */
export type UsedKey = {
  readonly id: number;
  readonly accountId: number | null;
  /** Whether it is one that everybody gets. */
  readonly isInstant: boolean;
  readonly scopes: readonly Scope[] | null;
};

/** `rateLimit` is null where nothing is counted. */
export type Admitted = {
  /** Whom the request counts for. */
  readonly caller: string;
  readonly key: UsedKey | null;
  readonly rateLimit: RateLimitState | null;
  readonly refund: Refund;
};

export type LimitRefusal = Rejection<LimitCode> & {
  readonly rateLimit: RateLimitState | null;
  /** The valid key of a request over its limit. */
  readonly key?: UsedKey | null;
};

/** A request with a valid key, once it is answered. `path`: without its query, cut. */
export type AnsweredRequest = {
  readonly keyId: number;
  readonly at: Date;
  readonly method: string;
  readonly path: string;
  /** Cut, as the path is. */
  readonly query: string | null;
  readonly status: number;
  /** Of a refusal. */
  readonly code: string | null;
  readonly requestId: string;
  readonly durationMs: number;
};

/** Counts requests and checks keys. Never throws: without its database it counts in the process. */
export type Limiter = {
  admit(caller: {
    readonly address: string;
    /** The whole network address, for keys that are bound to networks. */
    readonly ip: string | null;
    readonly key: string | undefined;
  }): Promise<Admitted | LimitRefusal>;
  /** Counts media, which pages load by themselves and without a key: by address, apart from requests. */
  admitMedia(address: string): Promise<Admitted | LimitRefusal>;
  /** Notes a request in the log of its key. */
  record(request: AnsweredRequest): void;
};

/** Counts requests of callers that are identified by other means than a key. `perMinute` 0: unlimited. */
export type Counter = {
  count(caller: string, perMinute: number): Promise<Admitted | LimitRefusal>;
};

const admissions = new WeakMap<Response, Admitted>();

/**
 * Who takes the place of an admitted request in progress: an account, whichever of its keys and tokens it uses, or the
 * address, whichever instant keys that has; the address, too, where nobody counts.
 */
export function callerOf(request: Request, response: Response): string {
  const admission = admissions.get(response);
  const address = callerAddress(request);
  if (admission === undefined || admission.key?.isInstant === true) return address;
  const { key, caller } = admission;
  return key === null ? caller : callerOfInput({ address, key });
}

/** What a handler's input says of whom it came from. */
export type RequestOrigin = { readonly address: string; readonly key: UsedKey | null };

/**
 * Whom a request counts for where callers share something that one of them could use up: an account, or the network
 * that it came from, whichever instant keys that has.
 */
export const callerOfInput = ({ address, key }: RequestOrigin): string =>
  key === null || key.isInstant
    ? networkOf(address)
    : `${key.accountId === null ? "key" : "account"} ${key.accountId ?? key.id}`;

/** The key of an admitted request; null: none. */
export const keyOf = (response: Response): UsedKey | null => admissions.get(response)?.key ?? null;

/** Refuses callers over their limit; every response carries the limit headers. OPTIONS is not counted. */
export function limitRequests(
  limiter: Limiter,
  isMedia: (path: string) => boolean = () => false,
): RequestHandler {
  return async (request, response, next) => {
    if (request.method === "OPTIONS") {
      next();
      return;
    }
    // An empty header is what a client sends that has no key.
    const key = request.get("x-api-key") || undefined;
    const address = callerAddress(request);
    const at = new Date();
    const admission = await (isMedia(request.baseUrl + request.path)
      ? limiter.admitMedia(address)
      : limiter.admit({ address, ip: callerIp(request), key }));
    if (admission.key) recordAnswer(limiter, admission.key.id, at, request, response);
    if (admitOrRefuse(response, admission)) next();
  };
}

function recordAnswer(
  limiter: Limiter,
  keyId: number,
  at: Date,
  request: Request,
  response: Response,
): void {
  const startedAt = performance.now();
  const { method } = request;
  const [path, query] = [loggedPath(request), loggedQuery(request)];
  response.once("close", () => {
    const durationMs = Math.round(performance.now() - startedAt);
    const code = refusalCodeOf(response) ?? null;
    const answered = { status: response.statusCode, code, requestId: requestIdOf(response) };
    limiter.record({ keyId, at, method, path, query, ...answered, durationMs });
  });
}

/** Sets the limit headers; answers the request itself when the caller is refused. */
export function admitOrRefuse(response: Response, admission: Admitted | LimitRefusal): boolean {
  setRateLimitHeaders(response, admission.rateLimit);
  if (isRejection(admission)) {
    refuse(response, admission);
    return false;
  }
  registerRefund(response, admission.refund);
  admissions.set(response, admission);
  return true;
}

function refuse(response: Response, refused: LimitRefusal): void {
  const { rejected, message, rateLimit } = refused;
  response.locals.route = "refused";
  if (rejected === "rate_limited") {
    response.set("Retry-After", String(rateLimit?.resetSeconds ?? 1));
  } else if (limitRefusals[rejected] === 401) {
    response.set("WWW-Authenticate", `ApiKey header="X-API-Key", error="${rejected}"`);
  }
  sendRejection(response, limitRefusals[rejected], { rejected, message });
}

/** Counts requests by network address only, ignoring keys. */
export function limitAddresses(limiter: Limiter): RequestHandler {
  return async (request, response, next) => {
    const address = callerAddress(request);
    if (request.method === "OPTIONS") {
      next();
      return;
    }
    const admission = await limiter.admit({ address, ip: null, key: undefined });
    if (admitOrRefuse(response, admission)) next();
  };
}

/**
 * Counts pages for people as media, by address and apart from requests to the API: a page is many reads, but one step of
 * a person. `refuse` sends the page of a refusal.
 */
export function limitPages(
  limiter: Limiter,
  refuse: (request: Request, response: Response) => void,
): RequestHandler {
  return async (request, response, next) => {
    const admission = await limiter.admitMedia(callerAddress(request));
    setRateLimitHeaders(response, admission.rateLimit);
    if (!isRejection(admission)) {
      registerRefund(response, admission.refund);
      next();
      return;
    }
    response.set("Retry-After", String(admission.rateLimit?.resetSeconds ?? 1));
    refuse(request, response);
  };
}

/** Counts documents that are the same for everybody, such as the reference, with the pages. */
export const limitDocuments = (limiter: Limiter): RequestHandler =>
  limitRequests(limiter, () => true);

/**
 * What a key may be used for: reading, orders (submitting, buying, accepting, cancelling), events as they happen, webhooks of
 * its account.
 */
export const scopes = ["read", "orders", "stream", "webhooks"] as const;

export type Scope = (typeof scopes)[number];
