import type { Database } from "#projections/log/database.ts";

/** What is known of the snapshot behind a handler's `db`. */
export type SnapshotFacts = {
  /** The same for all snapshots of the process: what caches belong to. */
  readonly owner: object;
  /** What the caller has asked for. */
  readonly atLeast: bigint;
  /** Of the snapshot's data: equal ones of one owner mean equal data. */
  readonly version: string;
  readonly position: bigint;
  /** Of the answer: lower where a part of it is an earlier read. */
  answered: bigint;
};

const known = new WeakMap<object, SnapshotFacts>();

export function describeSnapshot(db: Database, facts: SnapshotFacts): void {
  known.set(db, facts);
}

/** Undefined: `db` is no snapshot. */
export function snapshotFacts(db: object): SnapshotFacts | undefined {
  return known.get(db);
}
