import { timingSafeEqual } from "node:crypto";
import { LRUCache } from "lru-cache";
import { type Rejection, reject } from "../../../projections/domain/rejection.ts";
import type { Admitted, Counter, Limiter, Refused } from "../http/limit.ts";
import type { Allowance } from "../http/refund.ts";
import type { KnownKey, Window } from "./count-requests.ts";
import { hashKey, isKey } from "./key-text.ts";
import { openLocalCounts } from "./local-counts.ts";
import { openSharedCounts, type SharedCountsOptions, type Taken } from "./shared-counts.ts";

export type LimiterOptions = SharedCountsOptions & {
  /** Told of every request that a key was let through with. */
  readonly onUse: (keyId: number) => void;
};

type KeyCode = "invalid_key" | "revoked_key" | "expired_key";
type Count = Pick<Taken, "isGranted" | "perMinute" | "used" | "window">;
type GiveBack = (caller: string, beganAt: Date) => Promise<number | null>;

/** Keys whose limit is remembered, for when the database cannot be asked. */
const mostKnownKeys = 10_000;

/**
 * Counts callers without a key by their address, others by their key. A key is looked up for every request, so that
 * one that is revoked fails at once; only while the database cannot be had, those last seen alive keep their limit in
 * this process, and all others count as having none.
 */
export function openLimiter(options: LimiterOptions): Limiter & Counter {
  const { limits, now, onUse } = options;
  const shared = openSharedCounts(options);
  const local = openLocalCounts();
  const known = new LRUCache<string, number>({ max: mostKnownKeys });

  const countHere = (caller: string, perMinute: number) => {
    const taken = local.take(caller, perMinute, (now?.() ?? new Date()).getTime());
    return verdict(caller, { ...taken, perMinute }, async (...minute) => local.giveBack(...minute));
  };
  const count = async (caller: string, perMinute: number): Promise<Admitted | Refused> => {
    if (perMinute === 0) return unlimited;
    const taken = await shared.take({ caller, perMinute });
    if (taken === null) return countHere(caller, perMinute);
    return verdict(caller, taken, shared.giveBack);
  };
  const countAddress = (address: string) => count(address, limits.keyless);
  const countLostKey = (address: string, caller: string) => {
    const perMinute = known.get(caller);
    if (perMinute === undefined) return countAddress(address);
    return perMinute === 0 ? unlimited : countHere(caller, perMinute);
  };
  const countKey = async (address: string, text: string): Promise<Admitted | Refused> => {
    const hash = hashKey(text);
    const caller = `key ${hash.toString("base64url")}`;
    const taken = await shared.take({ caller, hash });
    if (taken === null) return countLostKey(address, caller);
    const { key, perMinute, isGranted } = taken;
    const fault = faultOf(key, hash);
    if (fault !== undefined) {
      known.delete(caller);
      return { ...fault, allowance: null };
    }
    known.set(caller, perMinute);
    const isFree = perMinute === 0;
    if (key !== null && (isGranted || isFree)) onUse(key.id);
    return isFree ? unlimited : verdict(caller, taken, shared.giveBack);
  };

  return {
    count,
    async admit({ address, key }) {
      if (key === undefined) return countAddress(address);
      if (!isKey(key)) return { ...malformed, allowance: null };
      const admission = await countKey(address, key);
      if (!("rejected" in admission) || admission.rejected === "rate_limited") return admission;
      // Who guesses keys is a caller without one.
      const counted = await countAddress(address);
      return "rejected" in counted ? counted : { ...admission, allowance: counted.allowance };
    },
  };
}

const unlimited: Admitted = { allowance: null, refund: async () => null };

function verdict(caller: string, count: Count, giveBack: GiveBack): Admitted | Refused {
  const { isGranted, perMinute, used, window } = count;
  const allowance = allowanceOf(perMinute, used, window);
  if (!isGranted) return { ...tooMany(allowance), allowance };
  const refund = async () => {
    const left = await giveBack(caller, window.beganAt);
    return left === null ? null : allowanceOf(perMinute, left, window);
  };
  return { allowance, refund };
}

const allowanceOf = (limit: number, used: number, window: Window): Allowance => ({
  limit,
  remaining: Math.max(0, limit - used),
  resetAt: window.resetAt,
  resetSeconds: window.resetSeconds,
});

function tooMany({ limit, resetSeconds }: Allowance): Rejection<"rate_limited"> {
  const message = `More than ${limit} requests in a minute; go on in ${resetSeconds} s`;
  return reject("rate_limited", message);
}

const malformed: Rejection<KeyCode> = reject(
  "invalid_key",
  "X-API-Key holds no key: one begins with mk_inst_ or mk_live_ and is 57 characters long; POST /v1/auth/keys gives one",
);
const unknown: Rejection<KeyCode> = reject("invalid_key", "This key was not given out here");
const revoked: Rejection<KeyCode> = reject("revoked_key", "This key was revoked");
const expired: Rejection<KeyCode> = reject("expired_key", "This key has expired");
const instantExpired: Rejection<KeyCode> = reject(
  "expired_key",
  "This instant key has expired; they are valid for 7 days, and POST /v1/auth/keys gives a new one",
);

function faultOf(key: KnownKey | null, hash: Buffer): Rejection<KeyCode> | undefined {
  if (key === null || !timingSafeEqual(Buffer.from(key.hash.slice(2), "hex"), hash)) return unknown;
  if (key.isRevoked) return revoked;
  if (key.isExpired) return key.type === "instant" ? instantExpired : expired;
  return undefined;
}
