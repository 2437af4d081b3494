import type { Window } from "#projections/engine/projection.ts";
import type { ChainQuery } from "#jobs/chain/chain-query.ts";
import type { ChainLog, LogFilter } from "#jobs/chain/fetch-logs.ts";

/** Events that orders depend on and that configuration leaves out of the index: what they touch is read instead. */
export type FollowedSource = {
  readonly name: string;
  /** The logs that matter now; none without orders that depend on them. */
  readFilters(): Promise<LogFilter[]>;
  /** Queries about what logs of these filters touch and open orders depend on. */
  readTouched(logs: readonly ChainLog[]): Promise<ChainQuery[]>;
  /** Queries about orders that a window of the log adds. */
  readAdded(window: Window): Promise<ChainQuery[]>;
  /** Queries about all open orders, in pages; `after`: of the next page, null after the last. */
  readPage(after: string | null): Promise<{ queries: ChainQuery[]; after: string | null }>;
};
