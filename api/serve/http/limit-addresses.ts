import type { Request, RequestHandler, Response } from "express";
import { isRejection } from "#projections/domain/rejection.ts";
import { callerAddress } from "./caller-address.ts";
import { admitOrRefuse, type Limiter } from "./limit.ts";
import { registerRefund, setRateLimitHeaders } from "./rate-limit-state.ts";

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
