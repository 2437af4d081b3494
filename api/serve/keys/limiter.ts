import { LRUCache } from "lru-cache";
import { type Rejection, reject } from "#projections/domain/rejection.ts";
import type { Admitted, AnsweredRequest, Counter, Limiter, LimitRefusal, UsedKey } from "#api/http/limit.ts";
import type { RateLimitState } from "#api/http/answer.ts";
import type { Window } from "./count-requests.ts";
import { faultOf, malformed } from "./key-faults.ts";
import { hashKey, isKey } from "./key-text.ts";
import { openLocalCounts } from "./local-counts.ts";
import { openSharedCounts, type SharedCountsOptions, type Taken } from "./shared-counts.ts";

export type LimiterOptions = SharedCountsOptions & {
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
    if (!isGranted) return { ...tooMany(rateLimit), rateLimit, key };
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
  const countKey = async ({ address, ip }: From, text: string): Promise<Admitted | LimitRefusal> => {
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
      return { ...(fault ?? malformed), rateLimit: null };
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
      const admission = isKey(key) ? await countKey(from, key) : { ...malformed, rateLimit: null };
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
