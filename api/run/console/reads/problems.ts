import type { Database } from "#projections/log/database.ts";
import type { FetchChainHead } from "#api/run/inspection/fetch-chain-head.ts";
import { findProblems } from "#api/run/inspection/find-problems.ts";
import type { Finding } from "#api/run/inspection/find-server-problems.ts";
import type { InspectedConfig } from "#api/run/inspection/inspected-config.ts";

/** Milliseconds for which findings are shown: looking for them reads the whole catalog. */
const maxAgeMs = 20_000;

type Problems = { at: Date; findings: Finding[] };
export type ReadProblems = () => Promise<Problems>;

type Options = {
  db: Database;
  config: InspectedConfig;
  fetchHead: FetchChainHead;
  now: () => Date;
};

/** What `op doctor` finds, at most 20 s old. Concurrent callers share one search. */
export function openProblemReader({ db, config, fetchHead, now }: Options): ReadProblems {
  let current: { promise: Promise<Problems>; since: number } | undefined;
  return () => {
    const at = now();
    if (current !== undefined && at.getTime() - current.since < maxAgeMs) return current.promise;
    const promise = findProblems(db, config, fetchHead).then((findings) => ({ at, findings }));
    const mine = { promise, since: at.getTime() };
    current = mine;
    promise.catch(() => {
      if (current === mine) current = undefined;
    });
    return promise;
  };
}
