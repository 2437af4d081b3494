import type { Logger } from "pino";
import { withinMs } from "#jobs/runner/limits.ts";
import { shareWhileBusy } from "#jobs/runner/share-while-busy.ts";
import type { Database } from "#projections/log/database.ts";
import {
  type Counted,
  type CountedMinute,
  type CountRequest,
  countRequests,
  type KnownKey,
  type RequestLimits,
  uncountRequest,
  uncountUnused,
} from "./count-requests.ts";

/** Requests of an address or of a key, granted together or not at all. */
export type RequestToCount = CountRequest;

export type Taken = {
  /** Whom it counts for. */
  readonly caller: string;
  readonly key: KnownKey | null;
  readonly perMinute: number;
  readonly isGranted: boolean;
  /** Requests used in this minute, including this one. */
  readonly used: number;
  readonly window: CountedMinute;
};

export type SharedCountsOptions = {
  readonly db: Database;
  readonly limits: RequestLimits;
  readonly logger: Logger;
  /** Replaces the database's clock in tests. */
  readonly now?: (() => Date) | undefined;
  /** Milliseconds that a caller waits at most for the count. */
  readonly deadlineMs?: number;
};

/** Milliseconds without a database attempt after a failure. */
const retryAfterFailureMs = 3_000;

/**
 * Counts in the database, which all processes share. Requests that arrive during a statement share the next one.
 * Null: the database is unavailable.
 */
export function openSharedCounts(options: SharedCountsOptions) {
  const { db, limits, logger, now, deadlineMs = 1_000 } = options;
  const at = () => now?.() ?? null;
  let pausedUntil = Number.NEGATIVE_INFINITY;
  let isLost = false;

  const attempt = async <Result>(work: () => Promise<Result>): Promise<Result | null> => {
    if (performance.now() < pausedUntil) return null;
    try {
      const result = await withinMs(deadlineMs, work(), () => {
        throw new Error(`the database did not answer within ${deadlineMs} ms`);
      });
      if (isLost) logger.info("rate limits are shared again");
      isLost = false;
      return result;
    } catch (error) {
      if (!isLost) logger.warn({ err: error }, "rate limits are counted in this process only");
      isLost = true;
      pausedUntil = performance.now() + retryAfterFailureMs;
      return null;
    }
  };
  const count = async (requests: readonly RequestToCount[]): Promise<(Taken | null)[]> => {
    const grouped = groupByCaller(requests);
    const counted = await attempt(() => countRequests(db, grouped, limits, at()));
    if (counted === null) return requests.map(() => null);
    const shared = share(requests, new Map(grouped.map((one, i) => [groupOf(one), counted[i]])));
    for (const { caller, window, count } of shared.unused)
      await attempt(() => uncountUnused(db, { caller, beganAt: window.beganAt, count }));
    return shared.taken;
  };
  return {
    take: shareWhileBusy(count),
    giveBack: (caller: string, beganAt: Date) => attempt(() => uncountRequest(db, caller, beganAt)),
  };
}

const groupOf = (ask: CountRequest) => ("ip" in ask ? `${ask.caller} ${ask.ip}` : ask.caller);

function groupByCaller(asks: readonly RequestToCount[]): CountRequest[] {
  const groups = new Map<string, CountRequest>();
  for (const ask of asks) {
    const wanted = (groups.get(groupOf(ask))?.wanted ?? 0) + ask.wanted;
    groups.set(groupOf(ask), { ...ask, wanted });
  }
  return [...groups.values()];
}

type Unused = Pick<Counted, "caller" | "window"> & { readonly count: number };
type Shared = { readonly taken: (Taken | null)[]; readonly unused: Unused[] };

/** Grants go to a caller's requests in the order of their arrival. What is left of them fits no request. */
function share(
  asks: readonly RequestToCount[],
  counted: ReadonlyMap<string, Counted | undefined>,
): Shared {
  const granted = new Map<string, { all: Counted; count: number }>();
  const grants = asks.map((ask) => {
    const all = counted.get(groupOf(ask));
    if (all === undefined) return null;
    if (all.key !== null && !isUsable(all.key)) return { all, count: null };
    const before = granted.get(all.caller)?.count ?? 0;
    const count = before + ask.wanted;
    const isGranted = count <= all.granted;
    granted.set(all.caller, { all, count: isGranted ? count : before });
    return { all, count: isGranted ? count : null };
  });
  const taken = grants.map((grant): Taken | null => {
    if (grant === null) return null;
    const { caller, key, perMinute, window, used, granted: ofAll } = grant.all;
    const isGranted = grant.count !== null;
    const counts = grant.count ?? granted.get(caller)?.count;
    const usedNow = counts === undefined ? 0 : used - ofAll + counts;
    return { caller, key, perMinute, isGranted, used: usedNow, window };
  });
  const unused = [...granted.values()].flatMap(
    ({ all: { caller, window, granted: ofAll }, count }) =>
      count < ofAll ? [{ caller, window, count: ofAll - count }] : [],
  );
  return { taken, unused };
}

const isUsable = ({ isRevoked, isExpired, isAllowed }: KnownKey) =>
  !isRevoked && !isExpired && isAllowed;
