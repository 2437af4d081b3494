import { timingSafeEqual } from "node:crypto";
import { LRUCache } from "lru-cache";
import { type Rejection, reject } from "#projections/domain/rejection.ts";
import type { RateLimitState } from "../http/answer.ts";
import type {
  Admitted,
  AnsweredRequest,
  Counter,
  Limiter,
  LimitRefusal,
  UsedKey,
} from "../http/limit.ts";
import { type CountedMinute, type KnownKey, maxRefundFactor } from "./count-requests.ts";
import { hashKey, isKey } from "./key-text.ts";
import { openSharedCounts, type SharedCountsOptions, type Taken } from "./shared-counts.ts";

type LimiterOptions = SharedCountsOptions & {
  /** Called for every request admitted with a key. */
  readonly onUse: (use: KeyUse) => void;
  /** Called for every answered request with a valid key. */
  readonly onAnswer?: (request: AnsweredRequest) => void;
};

/** The use of a key. `address`: as requests without a key are counted. */
export type KeyUse = Pick<UsedKey, "id" | "accountId"> & { readonly address: string };

type Count = Pick<Taken, "isGranted" | "perMinute" | "used" | "window">;
/** Of a valid key: whom it counts for. */
type Remembered = {
  readonly caller: string;
  readonly perMinute: number;
  readonly key: UsedKey;
};
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
  const { limits, now, onUse, onAnswer } = options;
  const shared = openSharedCounts(options);
  const local = openLocalCounts();
  const known = new LRUCache<string, Remembered>({ max: maxKnownKeys });

  const takeHere = (caller: string, perMinute: number, wanted: number): Count => {
    const taken = local.take(caller, perMinute, wanted, (now?.() ?? new Date()).getTime());
    return { ...taken, perMinute };
  };
  const admissionOf = (
    taken: Count,
    giveBack: GiveBack,
    { caller, key = null }: { caller: string; key?: UsedKey | null },
  ): Admitted | LimitRefusal => {
    const { isGranted, perMinute, used, window } = taken;
    if (perMinute === 0) return unlimited(caller, key);
    const rateLimit = rateLimitStateOf(perMinute, used, window);
    if (!isGranted)
      return {
        ...tooMany(rateLimit, key === null ? offerOf(limits, perMinute) : ""),
        rateLimit,
        key,
      };
    const refund = async () => {
      const left = await giveBack(caller, window.beganAt);
      return left === null ? null : rateLimitStateOf(perMinute, left, window);
    };
    return { caller, key, rateLimit, refund };
  };
  const countHere = (perMinute: number, counted: { caller: string; key?: UsedKey }) => {
    const taken = takeHere(counted.caller, perMinute, 1);
    return admissionOf(taken, async (...minute) => local.giveBack(...minute), counted);
  };
  const count = async (caller: string, perMinute: number): Promise<Admitted | LimitRefusal> => {
    if (perMinute === 0) return unlimited(caller);
    const taken = await shared.take({ caller, perMinute, wanted: 1 });
    if (taken === null) return countHere(perMinute, { caller });
    return admissionOf(taken, shared.giveBack, { caller });
  };
  const countAddress = (address: string) => count(address, limits.keyless);
  const countKeyLocally = (address: string, remembered: Remembered | undefined) => {
    if (remembered === undefined) return countAddress(address);
    const { perMinute, caller, key } = remembered;
    return perMinute === 0 ? unlimited(caller, key) : countHere(perMinute, { caller, key });
  };
  const countKey = async (
    { address, ip }: From,
    text: string,
  ): Promise<Admitted | LimitRefusal> => {
    const hash = hashKey(text);
    const name = `key ${hash.toString("base64url")}`;
    const taken = await shared.take({ caller: name, hash, ip, wanted: 1 });
    const here = `${name} ${ip}`;
    if (taken === null) return countKeyLocally(address, known.get(name) ?? known.get(here));
    const { caller, perMinute, isGranted } = taken;
    const fault = faultOf(taken.key, hash);
    if (fault !== undefined || taken.key === null) {
      known.delete(name);
      known.delete(here);
      return { ...(fault ?? malformedKey), rateLimit: null };
    }
    const { id, accountId, type, scopes, isBound } = taken.key;
    const key = { id, accountId, isInstant: type === "instant", scopes };
    known.set(isBound ? here : name, { caller, perMinute, key });
    if (isGranted || perMinute === 0) onUse({ id, accountId, address });
    return admissionOf(taken, shared.giveBack, { caller, key });
  };

  return {
    count,
    admitMedia: (address) => count(`media ${address}`, limits.keyless * mediaFactor),
    record: (request) => onAnswer?.(request),
    async admit({ key, ...from }) {
      const { address } = from;
      if (key === undefined) return countAddress(address);
      const admission = isKey(key)
        ? await countKey(from, key)
        : { ...malformedKey, rateLimit: null };
      if (!("rejected" in admission) || admission.rejected === "rate_limited") return admission;
      // A wrong key counts for the address: guessing is limited like a caller without a key.
      const counted = await countAddress(address);
      return "rejected" in counted ? counted : { ...admission, rateLimit: counted.rateLimit };
    },
  };
}

type From = { readonly address: string; readonly ip: string | null };

const unlimited = (caller: string, key: UsedKey | null = null): Admitted => ({
  caller,
  key,
  rateLimit: null,
  refund: async () => null,
});

const rateLimitStateOf = (limit: number, used: number, window: CountedMinute): RateLimitState => ({
  limit,
  remaining: Math.max(0, limit - used),
  resetAt: window.resetAt,
  resetSeconds: window.resetSeconds,
});

function tooMany(
  { limit, resetSeconds }: RateLimitState,
  offer: string,
): Rejection<"rate_limited"> {
  const message = `Rate limit of ${limit} requests per minute exceeded; retry in ${resetSeconds} s`;
  return reject("rate_limited", message + offer);
}

/** What keys would give to a caller without one; empty where they have no higher limit. */
const offerOf = (
  { keyless, instant, permanent }: LimiterOptions["limits"],
  perMinute: number,
): string =>
  perMinute === keyless && instant > keyless
    ? `. A key from POST /v1/auth/keys has ${instant}, one of an account ${permanent}`
    : "";

type KeyCode = "invalid_key" | "revoked_key" | "expired_key" | "address_not_allowed";

const malformedKey: Rejection<KeyCode> = reject(
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
function faultOf(key: KnownKey | null, hash: Buffer): Rejection<KeyCode> | undefined {
  if (key === null || !timingSafeEqual(Buffer.from(key.hash.slice(2), "hex"), hash)) return unknown;
  if (key.isRevoked) return revoked;
  if (key.isExpired) return key.type === "instant" ? instantExpired : expired;
  return key.isAllowed ? undefined : notAllowed;
}

/** Callers in memory; the least recently seen one is dropped first. */
const maxCallers = 50_000;

const minuteMs = 60_000;

type Minute = { beganMs: number; perMinute: number; used: number; freed: number };

/**
 * Request counts of this process only, used while the database is unavailable: each process then allows the whole
 * limit, which still bounds every caller.
 */
export function openLocalCounts() {
  const minutes = new LRUCache<string, Minute>({ max: maxCallers });
  return {
    /** Counts requests, if all of them fit. */
    take(caller: string, perMinute: number, wanted: number, nowMs: number) {
      const known = minutes.get(caller);
      // One that began later than now is of before the clock was set back.
      const isCurrent =
        known !== undefined && known.beganMs <= nowMs && nowMs < known.beganMs + minuteMs;
      const minute = isCurrent ? known : { beganMs: nowMs, perMinute, used: 0, freed: 0 };
      const isGranted = minute.used + wanted <= perMinute;
      if (isGranted) minute.used += wanted;
      minutes.set(caller, minute);
      return { isGranted, used: minute.used, window: windowOf(minute, nowMs) };
    },
    /** Refunds one request while its minute lasts; returns the requests used. */
    giveBack(caller: string, beganAt: Date): number | null {
      const minute = minutes.get(caller);
      if (minute === undefined || minute.beganMs !== beganAt.getTime()) return null;
      if (minute.freed < minute.perMinute * maxRefundFactor) minute.used -= 1;
      minute.freed += 1;
      return minute.used;
    },
  };
}

function windowOf({ beganMs }: Minute, nowMs: number): CountedMinute {
  const endMs = beganMs + minuteMs;
  return {
    beganAt: new Date(beganMs),
    resetAt: Math.ceil(endMs / 1000),
    resetSeconds: Math.ceil((endMs - nowMs) / 1000),
  };
}
