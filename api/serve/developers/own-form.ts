import { createHash, timingSafeEqual } from "node:crypto";
import type { Request } from "express";

/**
 * Whether a form was sent from one of our own pages. Browsers say where a request comes from; one that does not say is
 * no browser of today, and is refused. Proxies may change the host, so the configured one is right as well.
 */
export function isFromOwnPage(request: Request, baseUrl: string): boolean {
  const site = request.get("sec-fetch-site");
  if (site !== undefined && site !== "same-origin") return false;
  const origin = request.get("origin");
  if (origin === undefined || !URL.canParse(origin)) return false;
  const [from, ours] = [new URL(origin), new URL(baseUrl)];
  const isOurHost = from.host === ours.host || from.host === request.get("host");
  return isOurHost && from.protocol === ours.protocol;
}

/** What the forms of a session hold, so that only its own pages can have made them. Tells nothing of the session's token. */
export const formTokenOf = (sessionToken: string): string =>
  createHash("sha256").update(`form of ${sessionToken}`).digest("base64url");

export function isFormToken(given: string, expected: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}
