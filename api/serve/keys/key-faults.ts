import { timingSafeEqual } from "node:crypto";
import { type Rejection, reject } from "#projections/domain/rejection.ts";
import type { KnownKey } from "./count-requests.ts";

type KeyCode = "invalid_key" | "revoked_key" | "expired_key" | "address_not_allowed";

export const malformed: Rejection<KeyCode> = reject(
  "invalid_key",
  "X-API-Key is not a valid key: keys start with mk_inst_ or mk_live_ and are 57 characters long; POST /v1/auth/keys creates one",
);
const unknown: Rejection<KeyCode> = reject("invalid_key", "Unknown key");
const revoked: Rejection<KeyCode> = reject("revoked_key", "This key was revoked");
const expired: Rejection<KeyCode> = reject("expired_key", "This key has expired");
const instantExpired: Rejection<KeyCode> = reject(
  "expired_key",
  "This instant key has expired: instant keys are valid for 7 days; POST /v1/auth/keys creates a new one",
);

const notAllowed: Rejection<KeyCode> = reject(
  "address_not_allowed",
  "This key may not be used from this network address; its owner has listed the networks that may",
);

/** Why a looked-up key is refused; undefined: it is valid. */
export function faultOf(key: KnownKey | null, hash: Buffer): Rejection<KeyCode> | undefined {
  if (key === null || !timingSafeEqual(Buffer.from(key.hash.slice(2), "hex"), hash)) return unknown;
  if (key.isRevoked) return revoked;
  if (key.isExpired) return key.type === "instant" ? instantExpired : expired;
  return key.isAllowed ? undefined : notAllowed;
}
