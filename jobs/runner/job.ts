/** What a run says of the next one: at once; none; after so many milliseconds. Nothing: after the job's own time. */
export type JobOutcome = "more" | "ended" | number;

/** What ends a pause early. `Infinity`: for as long as it decides itself. */
export type Waker = {
  wait(atMostMs: number, signal: AbortSignal): Promise<unknown>;
};

/** Work that goes on without a request: `runJobs` runs it, again and again. */
export type Job = {
  readonly name: string;
  /** Which of several of the name: the chain, partner or indexer. Fields of its log lines. */
  readonly about?: Readonly<Record<string, string | number>>;
  /** Milliseconds from the end of a run to the next; absent: until `wakesOn`. */
  readonly every?: number;
  readonly wakesOn?: Waker;
  /** Projections of which this release's tables are awaited before the first run. */
  readonly reads?: readonly string[];
  /** Other pauses after failures than a second, doubled up to a minute. */
  readonly retry?: JobRetry;
  run(signal: AbortSignal): Promise<JobOutcome | undefined>;
};

/** Pauses after failures: the first one, which each further failure in a row doubles, and the longest. */
export type BackOff = { readonly firstMs: number; readonly mostMs: number };

type JobRetry = BackOff & {
  /** Whether `wakesOn` ends the pause: not of work that would ask a node which is down. */
  readonly isWoken?: boolean;
};

/** Names the one of several jobs of a name. */
export const partOfJob = ({ about = {} }: Pick<Job, "about">): string =>
  Object.values(about).join(" ");

/** A failure of somebody else's service, a node or a partner: told by its reason, not as an error of ours. */
export class OutsideFailure extends Error {}
