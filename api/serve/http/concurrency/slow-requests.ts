import { LRUCache } from "lru-cache";
import { isStatementTimeout } from "#projections/log/database-failure.ts";
import { splitAddress } from "../split-address.ts";

/** A read was ended for the time that it took, or is refused because it was before. */
export class ReadTimedOut extends Error {
  readonly retryAfterSeconds: number;

  constructor(retryAfterSeconds: number, options?: ErrorOptions) {
    super("the read took too long", options);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

export type SlowRequests = {
  /**
   * Runs a read unless the same request timed out a moment ago. Throws `ReadTimedOut` with the seconds for which it is
   * refused without being tried.
   */
  read<Result>(address: string, work: () => Promise<Result>): Promise<Result>;
  /** Requests that are refused at present. */
  resting(): number;
};

/** The first rest, which doubles with each further timeout up to the longest. */
const firstRestMs = 15_000;
const maxRestMs = 600_000;
/** Requests remembered; the least recently asked is dropped first. */
const maxRequests = 10_000;

type Rest = { readonly ms: number; readonly until: number };

/** Remembers the reads that took too long, by path and parameters: repeating one costs the database nothing. */
export function openSlowRequests(nowMs: () => number = () => performance.now()): SlowRequests {
  const rests = new LRUCache<string, Rest>({ max: maxRequests });
  const secondsUntil = (until: number) => Math.max(1, Math.ceil((until - nowMs()) / 1_000));

  return {
    async read(address, work) {
      const key = keyOf(address);
      const known = rests.get(key);
      if (known !== undefined && nowMs() < known.until)
        throw new ReadTimedOut(secondsUntil(known.until));
      try {
        const result = await work();
        rests.delete(key);
        return result;
      } catch (error) {
        if (!isStatementTimeout(error)) throw error;
        const ms = Math.min(maxRestMs, known === undefined ? firstRestMs : 2 * known.ms);
        const until = nowMs() + ms;
        rests.set(key, { ms, until });
        throw new ReadTimedOut(secondsUntil(until), { cause: error });
      }
    },
    resting: () => [...rests.values()].filter(({ until }) => nowMs() < until).length,
  };
}

/** Parameters in any order are the same request. */
function keyOf(address: string): string {
  const [path, query] = splitAddress(address);
  return `${path}?${query.split("&").sort().join("&")}`;
}
