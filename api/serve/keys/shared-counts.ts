import type { Logger } from "pino";
import type { Database } from "../../../projections/database.ts";
import {
  type Ask,
  type Counted,
  countRequests,
  type KnownKey,
  type Limits,
  uncountRequest,
  type Window,
} from "./count-requests.ts";

/** One request: of an address, or of a key. */
export type OneAsk =
  | { readonly caller: string; readonly perMinute: number }
  | { readonly caller: string; readonly hash: Buffer };

export type Taken = {
  readonly key: KnownKey | null;
  readonly perMinute: number;
  readonly isGranted: boolean;
  /** How many of the minute are used with this one. */
  readonly used: number;
  readonly window: Window;
};

export type SharedCountsOptions = {
  readonly db: Database;
  readonly limits: Limits;
  readonly logger: Logger;
  /** In place of the database's clock. */
  readonly now?: (() => Date) | undefined;
  /** Milliseconds that a caller waits at most to be counted. */
  readonly deadlineMs?: number;
};

/** Milliseconds for which a database that failed is not asked again. */
const pauseMs = 3_000;

/**
 * Counts in the database, which all processes share. Requests that come while others are being counted are counted
 * together. Null: the database cannot be had.
 */
export function openSharedCounts(options: SharedCountsOptions) {
  const { db, limits, logger, now, deadlineMs = 1_000 } = options;
  const at = () => now?.() ?? null;
  let pausedUntil = Number.NEGATIVE_INFINITY;
  let isLost = false;

  const attempt = async <Result>(work: () => Promise<Result>): Promise<Result | null> => {
    if (performance.now() < pausedUntil) return null;
    try {
      const result = await withinDeadline(work(), deadlineMs);
      if (isLost) logger.info("requests are counted in the database again");
      isLost = false;
      return result;
    } catch (error) {
      if (!isLost) logger.warn({ err: error }, "requests are counted in this process alone");
      isLost = true;
      pausedUntil = performance.now() + pauseMs;
      return null;
    }
  };
  const count = async (asks: readonly OneAsk[]): Promise<(Taken | null)[]> => {
    const grouped = groupByCaller(asks);
    const counted = await attempt(() => countRequests(db, grouped, limits, at()));
    if (counted === null) return asks.map(() => null);
    return share(asks, new Map(grouped.map(({ caller }, index) => [caller, counted[index]])));
  };
  return {
    take: together(count),
    giveBack: (caller: string, beganAt: Date) => attempt(() => uncountRequest(db, caller, beganAt)),
  };
}

/** One statement at a time; who comes meanwhile goes together into the next. `count` never fails. */
function together(count: (asks: readonly OneAsk[]) => Promise<(Taken | null)[]>) {
  type Waiting = { ask: OneAsk; answer: (taken: Taken | null) => void };
  let waiting: Waiting[] = [];
  let isWorking = false;
  const work = async () => {
    isWorking = true;
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      const taken = await count(batch.map(({ ask }) => ask));
      batch.forEach(({ answer }, index) => {
        answer(taken[index] ?? null);
      });
    }
    isWorking = false;
  };
  return (ask: OneAsk) =>
    new Promise<Taken | null>((answer) => {
      waiting.push({ ask, answer });
      if (!isWorking) void work();
    });
}

function groupByCaller(asks: readonly OneAsk[]): Ask[] {
  const groups = new Map<string, Ask>();
  for (const ask of asks) {
    const wanted = (groups.get(ask.caller)?.wanted ?? 0) + 1;
    groups.set(ask.caller, { ...ask, wanted });
  }
  return [...groups.values()];
}

/** What a caller was granted goes to those of its requests that came first. */
function share(
  asks: readonly OneAsk[],
  counted: ReadonlyMap<string, Counted | undefined>,
): (Taken | null)[] {
  const places = new Map<string, number>();
  return asks.map(({ caller }) => {
    const all = counted.get(caller);
    if (all === undefined) return null;
    const place = (places.get(caller) ?? 0) + 1;
    places.set(caller, place);
    const { key, perMinute, granted, window } = all;
    const isGranted = place <= granted;
    const used = isGranted ? all.used - granted + place : all.used;
    return { key, perMinute, isGranted, used, window };
  });
}

async function withinDeadline<Result>(work: Promise<Result>, deadlineMs: number): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const error = new Error(`the database did not answer within ${deadlineMs} ms`);
    timer = setTimeout(() => reject(error), deadlineMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
    // It may fail later still, and nobody waits for it then.
    work.catch(() => {});
  }
}
