import { createHash, timingSafeEqual } from "node:crypto";
import type { Request } from "express";

/**
 * Whether a form was sent from one of our own pages, by `Sec-Fetch-Site` and `Origin`. A client that sends no origin
 * is refused. Proxies may change the host, so the configured one is accepted as well.
 */
export function hasOwnOrigin(request: Request, baseUrl: string): boolean {
  const site = request.get("sec-fetch-site");
  if (site !== undefined && site !== "same-origin") return false;
  const origin = request.get("origin");
  if (origin === undefined || !URL.canParse(origin)) return false;
  const [from, ours] = [new URL(origin), new URL(baseUrl)];
  const isOurHost = from.host === ours.host || from.host === request.get("host");
  return isOurHost && from.protocol === ours.protocol;
}

/** The CSRF token of a session's forms. It does not reveal the session token. */
export const formTokenFor = (sessionToken: string): string =>
  createHash("sha256").update(`form of ${sessionToken}`).digest("base64url");

export function isFormToken(given: string, expected: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}
