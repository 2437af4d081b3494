import { LRUCache } from "lru-cache";
import { maxRefundFactor, type Window } from "./count-requests.ts";

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

function windowOf({ beganMs }: Minute, nowMs: number): Window {
  const endMs = beganMs + minuteMs;
  return {
    beganAt: new Date(beganMs),
    resetAt: Math.ceil(endMs / 1000),
    resetSeconds: Math.ceil((endMs - nowMs) / 1000),
  };
}
