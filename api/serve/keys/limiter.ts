import { timingSafeEqual } from "node:crypto";
import { LRUCache } from "lru-cache";
import { type Rejection, reject } from "../../../projections/domain/rejection.ts";
import type { Admitted, Counter, Limiter, Refused } from "../http/limit.ts";
import type { RateLimitState } from "../http/rate-limit-state.ts";
import type { KnownKey, Window } from "./count-requests.ts";
import { hashKey, isKey } from "./key-text.ts";
import { openLocalCounts } from "./local-counts.ts";
import { openSharedCounts, type SharedCountsOptions, type Taken } from "./shared-counts.ts";

export type LimiterOptions = SharedCountsOptions & {
  /** Called for every request admitted with a key. */
  readonly onUse: (keyId: number) => void;
};

type KeyCode = "invalid_key" | "revoked_key" | "expired_key";
type Count = Pick<Taken, "isGranted" | "perMinute" | "used" | "window">;
type GiveBack = (caller: string, beganAt: Date) => Promise<number | null>;

/** Media a minute, as a multiple of the limit without a key: several lists of a hundred tokens each. */
const mediaFactor = 20;

/** Keys whose limit is remembered while the database is unavailable. */
const maxKnownKeys = 10_000;

/**
 * Counts callers without a key by address, others by key. A key is looked up on every request, so that a revoked key
 * fails at once. While the database is unavailable, keys that were valid when last seen keep their limit in this
 * process, and all other keys count as none.
 */
export function openLimiter(options: LimiterOptions): Limiter & Counter {
  const { limits, now, onUse } = options;
  const shared = openSharedCounts(options);
  const local = openLocalCounts();
  const known = new LRUCache<string, number>({ max: maxKnownKeys });

  const takeHere = (caller: string, perMinute: number, wanted: number): Count => {
    const taken = local.take(caller, perMinute, wanted, (now?.() ?? new Date()).getTime());
    return { ...taken, perMinute };
  };
  /** Never more than a whole minute allows: what is documented must be possible, if nothing else is done. */
  const chargeOf =
    (caller: string, perMinute: number): Admitted["charge"] =>
    async (requests) => {
      const wanted = Math.min(requests, perMinute) - 1;
      if (wanted === 0) return { rateLimit: null };
      const taken = await shared.take({ caller, perMinute, wanted });
      const { window, used, isGranted } = taken ?? takeHere(caller, perMinute, wanted);
      const rateLimit = rateLimitStateOf(perMinute, used, window);
      return isGranted ? { rateLimit } : { ...tooMany(rateLimit), rateLimit };
    };
  const admissionOf = (caller: string, taken: Count, giveBack: GiveBack): Admitted | Refused => {
    const { isGranted, perMinute, used, window } = taken;
    const rateLimit = rateLimitStateOf(perMinute, used, window);
    if (!isGranted) return { ...tooMany(rateLimit), rateLimit };
    const refund = async () => {
      const left = await giveBack(caller, window.beganAt);
      return left === null ? null : rateLimitStateOf(perMinute, left, window);
    };
    return { rateLimit, refund, charge: chargeOf(caller, perMinute) };
  };
  const countHere = (caller: string, perMinute: number) =>
    admissionOf(caller, takeHere(caller, perMinute, 1), async (...minute) =>
      local.giveBack(...minute),
    );
  const count = async (caller: string, perMinute: number): Promise<Admitted | Refused> => {
    if (perMinute === 0) return unlimited;
    const taken = await shared.take({ caller, perMinute, wanted: 1 });
    if (taken === null) return countHere(caller, perMinute);
    return admissionOf(caller, taken, shared.giveBack);
  };
  const countAddress = (address: string) => count(address, limits.keyless);
  const countKeyLocally = (address: string, caller: string) => {
    const perMinute = known.get(caller);
    if (perMinute === undefined) return countAddress(address);
    return perMinute === 0 ? unlimited : countHere(caller, perMinute);
  };
  const countKey = async (address: string, text: string): Promise<Admitted | Refused> => {
    const hash = hashKey(text);
    const caller = `key ${hash.toString("base64url")}`;
    const taken = await shared.take({ caller, hash, wanted: 1 });
    if (taken === null) return countKeyLocally(address, caller);
    const { key, perMinute, isGranted } = taken;
    const fault = faultOf(key, hash);
    if (fault !== undefined) {
      known.delete(caller);
      return { ...fault, rateLimit: null };
    }
    known.set(caller, perMinute);
    const isFree = perMinute === 0;
    if (key !== null && (isGranted || isFree)) onUse(key.id);
    return isFree ? unlimited : admissionOf(caller, taken, shared.giveBack);
  };

  return {
    count,
    admitMedia: (address) => count(`media ${address}`, limits.keyless * mediaFactor),
    async admit({ address, key }) {
      if (key === undefined) return countAddress(address);
      const admission = isKey(key)
        ? await countKey(address, key)
        : { ...malformed, rateLimit: null };
      if (!("rejected" in admission) || admission.rejected === "rate_limited") return admission;
      // A wrong key counts for the address: guessing is limited like a caller without a key.
      const counted = await countAddress(address);
      return "rejected" in counted ? counted : { ...admission, rateLimit: counted.rateLimit };
    },
  };
}

const unlimited: Admitted = {
  rateLimit: null,
  refund: async () => null,
  charge: async () => ({ rateLimit: null }),
};

const rateLimitStateOf = (limit: number, used: number, window: Window): RateLimitState => ({
  limit,
  remaining: Math.max(0, limit - used),
  resetAt: window.resetAt,
  resetSeconds: window.resetSeconds,
});

function tooMany({ limit, resetSeconds }: RateLimitState): Rejection<"rate_limited"> {
  const message = `Rate limit of ${limit} requests per minute exceeded; retry in ${resetSeconds} s`;
  return reject("rate_limited", message);
}

const malformed: Rejection<KeyCode> = reject(
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

function faultOf(key: KnownKey | null, hash: Buffer): Rejection<KeyCode> | undefined {
  if (key === null || !timingSafeEqual(Buffer.from(key.hash.slice(2), "hex"), hash)) return unknown;
  if (key.isRevoked) return revoked;
  if (key.isExpired) return key.type === "instant" ? instantExpired : expired;
  return undefined;
}
