import type { Response } from "express";

/** What a caller may still ask. */
export type Allowance = {
  /** Requests a minute. */
  readonly limit: number;
  readonly remaining: number;
  /** When the whole limit is free again: unix seconds, and seconds from now. */
  readonly resetAt: number;
  readonly resetSeconds: number;
};

/** Gives a request back. Never fails; null where there is nothing to tell. */
export type Refund = () => Promise<Allowance | null>;

const refunds = new WeakMap<Response, Refund>();

export function tellAllowance(response: Response, allowance: Allowance | null): void {
  if (allowance === null) return;
  response.set({
    "X-RateLimit-Limit": String(allowance.limit),
    "X-RateLimit-Remaining": String(allowance.remaining),
    "X-RateLimit-Reset": String(allowance.resetAt),
  });
}

export function keepRefund(response: Response, refund: Refund): void {
  refunds.set(response, refund);
}

/** An answer without news is free. What was not counted has nothing to give back. */
export async function refund(response: Response): Promise<void> {
  const giveBack = refunds.get(response);
  if (giveBack !== undefined) tellAllowance(response, await giveBack());
}
