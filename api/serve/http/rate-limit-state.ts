import type { Response } from "express";

/** A caller's limit and what is left of it. */
export type RateLimitState = {
  /** Requests per minute. */
  readonly limit: number;
  readonly remaining: number;
  /** When the limit resets: unix seconds, and seconds from now. */
  readonly resetAt: number;
  readonly resetSeconds: number;
};

/** Returns a request to its caller's limit. Never throws; null where nothing was counted. */
export type Refund = () => Promise<RateLimitState | null>;

const refunds = new WeakMap<Response, Refund>();

export function setRateLimitHeaders(response: Response, rateLimit: RateLimitState | null): void {
  if (rateLimit === null) return;
  response.set({
    "X-RateLimit-Limit": String(rateLimit.limit),
    "X-RateLimit-Remaining": String(rateLimit.remaining),
    "X-RateLimit-Reset": String(rateLimit.resetAt),
  });
}

export function registerRefund(response: Response, refund: Refund): void {
  refunds.set(response, refund);
}

/** A 304 does not count. Requests that were not counted have no refund. */
export async function refund(response: Response): Promise<void> {
  const giveBack = refunds.get(response);
  if (giveBack !== undefined) setRateLimitHeaders(response, await giveBack());
}
