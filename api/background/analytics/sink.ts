import type { Readable } from "node:stream";
import type { CopiedColumn } from "#projections/analytics/data-sets.ts";
import type { Digests, Part } from "#projections/analytics/copy-source.ts";

/** What the copy holds, as of its last commit. */
export type SinkState = {
  /** All rows are those of the projections at this position. */
  readonly position: bigint;
  /** The facts up to here are there: not less than `position`. */
  readonly factsPosition: bigint;
  /** What the last of them says: another log has another fact there. */
  readonly lastFact: string | null;
  /** Tables that the rows were copied from. */
  readonly tableIds: Readonly<Record<string, string>>;
  /** When it was committed. */
  readonly committedAt: Date;
};

/** A table of the copy, as it is filled. */
export type SinkTable = {
  readonly name: string;
  readonly columns: readonly CopiedColumn[];
  readonly key: readonly string[];
};

/** What is written between two commits: nobody sees it before, and nothing is left of it without one. */
export type Batch = {
  /** Ends each inserted row. */
  readonly number: bigint;
  /** Removes the rows of parts, which were there at the last commit. */
  remove(table: string, parts: readonly Part[] | "all"): Promise<void>;
  /** Inserts rows: CSV as `Snapshot` copies it. */
  insert(table: string, rows: Readable): Promise<void>;
  setDigests(table: string, digests: Digests): Promise<void>;
  commit(state: Omit<SinkState, "committedAt">): Promise<void>;
};

/** A copy of the facts of the log and of the rows derived from them. */
export type Sink = {
  /** Creates tables and views. Of other columns than they are made with now, or if `isAnew`, all is dropped. */
  prepare(tables: readonly SinkTable[], isAnew: boolean): Promise<void>;
  /** Null: nothing was committed yet. */
  readState(): Promise<SinkState | null>;
  readDigests(table: string): Promise<Digests>;
  begin(): Promise<Batch>;
  /** Frees the space of rows that were replaced. */
  compact(): Promise<void>;
  close(): Promise<void>;
};
