import { randomUUID } from "node:crypto";
import process from "node:process";
import { z } from "zod";
import type { Database } from "#projections/log/database.ts";
import { findProblems } from "../reports/find-problems.ts";
import type { Finding } from "../reports/find-server-problems.ts";
import type { InspectedConfig } from "../reports/inspected-config.ts";
import type { FetchChainHead, ServiceProgress } from "../reports/read-status.ts";

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

/** Milliseconds for the API to answer. */
const metricsTimeoutMs = 5_000;

/** Reads the metrics that an API process serves. */
export const openMetricsReader = (url: string) => (): Promise<Response | null> =>
  fetch(url, { signal: AbortSignal.timeout(metricsTimeoutMs) }).catch(() => null);

/** Milliseconds for the supervisor to answer. */
const timeoutMs = 2_000;

/** A process that the supervisor runs. `bytes`: of it and all that it started; null: not known. */
const RunningProcess = z.object({
  name: z.string(),
  pid: z.number(),
  startedAt: z.string(),
  /** How often it was started, its restarts included. */
  starts: z.number(),
  bytes: z.number().nullable(),
});
export type RunningProcess = z.output<typeof RunningProcess>;

/** From the console's process to the supervisor, and its answer. */
export const ProcessRequest = z.object({ processesFor: z.string() });
const ProcessAnswer = z.object({
  processList: z.object({ id: z.string(), processes: z.array(RunningProcess) }),
});

export type ReadProcesses = () => Promise<RunningProcess[]>;

/** Null where no supervisor started this process. */
export function openProcessReader(): ReadProcesses | null {
  const send = process.send?.bind(process);
  if (send === undefined) return null;
  const waiting = new Map<string, (processes: RunningProcess[]) => void>();
  process.on("message", (message) => {
    const answer = ProcessAnswer.safeParse(message);
    if (answer.success)
      waiting.get(answer.data.processList.id)?.(answer.data.processList.processes);
  });
  return () =>
    new Promise((resolve, reject) => {
      const id = randomUUID();
      const timer = setTimeout(() => {
        waiting.delete(id);
        reject(new Error("the supervisor does not answer"));
      }, timeoutMs);
      waiting.set(id, (processes) => {
        clearTimeout(timer);
        waiting.delete(id);
        resolve(processes);
      });
      send({ processesFor: id });
    });
}

/** Null: not known yet. */
export type RebuildPace = { perSecond: number | null; secondsLeft: number | null };

export type MeasureRebuilds = (
  progress: ServiceProgress,
  now: Date,
) => ReadonlyMap<string, RebuildPace>;

type Place = { position: number; at: number };

/** Measures rebuilds from the first look at their positions. One whose position does not move has no pace. */
export function openRebuildMeter(): MeasureRebuilds {
  let first = new Map<string, Place>();
  return ({ projections, logHead }, now) => {
    const seen = new Map<string, Place>();
    const paces = new Map<string, RebuildPace>();
    for (const { name, rebuilding } of projections) {
      if (rebuilding === null) continue;
      const place = { position: rebuilding.position, at: now.getTime() };
      const known = first.get(name);
      const from = known === undefined || known.position > place.position ? place : known;
      seen.set(name, from);
      paces.set(name, paceOf(from, place, logHead));
    }
    first = seen;
    return paces;
  };
}

function paceOf(from: Place, to: Place, end: number): RebuildPace {
  if (to.position <= from.position || to.at <= from.at)
    return { perSecond: null, secondsLeft: null };
  const perSecond = ((to.position - from.position) * 1_000) / (to.at - from.at);
  return { perSecond, secondsLeft: Math.ceil((end - to.position) / perSecond) };
}
