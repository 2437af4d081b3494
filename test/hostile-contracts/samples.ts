/** What honest callers saw in one kind of time: milliseconds, answers by status, and what must never be. */
export type Samples = {
  readonly reads: number[];
  /** Of the POST of a signed order. */
  readonly intake: number[];
  /** From a block with a transaction until the API tells of it. */
  readonly blocks: number[];
  readonly statuses: Map<number, number>;
  /** 5xx other than 503 with `Retry-After`, and requests without an answer. */
  readonly faults: string[];
};

export const noSamples = (): Samples => ({
  reads: [],
  intake: [],
  blocks: [],
  statuses: new Map(),
  faults: [],
});

/** Milliseconds that this share of the requests took at most. */
export function quantile(ms: readonly number[], share: number): number {
  const sorted = ms.toSorted((one, other) => one - other);
  const index = Math.min(sorted.length - 1, Math.floor(sorted.length * share));
  return Math.round(sorted[index] ?? 0);
}

export function describeSamples({ reads, intake, blocks, statuses, faults }: Samples): string {
  const of = (name: string, ms: readonly number[]) =>
    `${ms.length} ${name} p50 ${quantile(ms, 0.5)} p99 ${quantile(ms, 0.99)} ms`;
  const answers = [...statuses].map(([status, times]) => `${times} × ${status}`).join(", ");
  const kinds = [of("reads", reads), of("orders", intake), of("blocks", blocks)];
  return [...kinds, answers, `${faults.length} faults`].join("; ");
}
