import { createHash } from "node:crypto";

/** Weak, because compression may change the bytes sent. */
export function etagOf(body: Buffer): string {
  return `W/"${createHash("sha1").update(body).digest("base64url")}"`;
}

/** A caller who names no version has none, and costs what one without the header does. */
export const namesVersion = (ifNoneMatch: string | undefined): boolean =>
  ifNoneMatch !== undefined && ifNoneMatch.trim() !== "*";

/** The weak comparison of RFC 9110 §13.1.2, whatever the request's Cache-Control says. */
export function matchesEtag(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch.trim() === "*") return true;
  const opaque = (tag: string) => tag.trim().replace(/^W\//, "");
  return ifNoneMatch.split(",").some((tag) => opaque(tag) === opaque(etag));
}
