import type { ConcurrencyLimiter } from "./concurrency/concurrency-limiter.ts";
import type { SlowRequests } from "./concurrency/slow-requests.ts";
import type { Envelope } from "./envelope.ts";
import type { PositionedReads } from "./reads/positioned-reads.ts";
import type { ResponseCache } from "./response-cache.ts";

/** What all routes of one API share. */
export type ApiProfile = {
  readonly envelope: Envelope;
  /** Prepended to the path of each route. */
  readonly prefix: string;
  /** Query parameters that every route takes. */
  readonly parameters?: readonly string[];
  /** WWW-Authenticate of a route's own 401. */
  readonly challenge?: string;
  /** Cache for the responses of cacheable routes; without it nothing is cached. */
  readonly cache?: ResponseCache | undefined;
  /** Limits of concurrency; without them every request starts at once. */
  readonly concurrency?: ConcurrencyLimiter | undefined;
  /** Reads that took too long; without it each is tried again. */
  readonly slowRequests?: SlowRequests | undefined;
  /** Where routes read projections; without it they read nothing of them. */
  readonly reads?: PositionedReads | undefined;
};
