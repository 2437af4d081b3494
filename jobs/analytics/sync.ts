import type { Readable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import {
  type CopySnapshot,
  type CopySource,
  type Digests,
  openSource,
  type Part,
} from "#projections/analytics/copy-source.ts";
import { type CopiedColumn, type DataSet, dataSets } from "#projections/analytics/data-sets.ts";

/** Facts between two commits. */
const BATCH_FACTS = 250_000n;
/** Milliseconds between two looks while projections are at several positions, and how many. */
const retryMs = 200;
const retries = 300;
/** Of more parts all rows are copied: that is sooner done than picking them. */
const MOST_PARTS = 100_000;

export type SyncOptions = {
  /** Drops the copy and copies all again. */
  isAnew?: boolean;
  signal?: AbortSignal;
  onProgress?: (progress: { position: bigint; head: bigint }) => void;
};
export type SyncResult = { position: bigint; facts: bigint; replacedParts: number };

/** The copy holds another log's facts, or more than there are: after a restore, or a failover that lost facts. */
class AnotherLog extends Error {}

type Tables = {
  facts: readonly CopiedColumn[];
  rows: ReadonlyMap<DataSet, readonly CopiedColumn[]>;
};
type Sync = { source: CopySource; sink: Sink; tables: Tables; options: SyncOptions };

const empty = { position: 0n, factsPosition: 0n, lastFact: null, tableIds: {} };

/**
 * Brings the copy to the position of the projections. Facts are copied by position, in batches; then, of one snapshot,
 * the last facts and all rows that may have changed. Each commit holds its position: after a kill of
 * either side the next sync goes on from there.
 */
export async function sync(
  url: string,
  sink: Sink,
  options: SyncOptions = {},
): Promise<SyncResult> {
  const source = await openSource(url);
  try {
    const tables = await describeTables(source);
    const prepared = [
      { name: "facts", columns: tables.facts, key: ["position"] },
      ...[...tables.rows].map(([{ name, key }, columns]) => ({ name, columns, key })),
    ];
    await sink.prepare(prepared, options.isAnew ?? false);
    return await copyAll({ source, sink, tables, options });
  } finally {
    await source.close().catch(() => {});
  }
}

async function describeTables(source: CopySource): Promise<Tables> {
  const rows = new Map<DataSet, readonly CopiedColumn[]>();
  for (const dataSet of dataSets) {
    const columns = await source.columnsOf(dataSet);
    rows.set(
      dataSet,
      columns.filter(({ name }) => name !== "_part"),
    );
  }
  return { facts: await source.factColumns(), rows };
}

async function copyAll(context: Sync): Promise<SyncResult> {
  const { source, sink, options } = context;
  const start = (await sink.readState())?.factsPosition ?? 0n;
  let attempts = 0;
  for (;;) {
    options.signal?.throwIfAborted();
    const state = (await sink.readState()) ?? empty;
    const result = await source.snapshot((snapshot) => copyNext(context, snapshot, state));
    if (typeof result === "object") return { ...result, facts: result.position - start };
    attempts = result === "more" ? 0 : attempts + 1;
    if (attempts > retries) throw new Error("the projections are at several positions");
    if (result === "later") await delay(retryMs);
  }
}

type Step = "more" | "later" | { position: bigint; replacedParts: number };

/** One commit: a batch of facts, or the last facts with the rows of the snapshot. */
async function copyNext(
  context: Sync,
  snapshot: CopySnapshot,
  state: Omit<SinkState, "committedAt">,
): Promise<Step> {
  await assertSameLog(snapshot, state);
  const { position, head } = snapshot;
  context.options.onProgress?.({ position: state.factsPosition, head });
  const target = position ?? head;
  if (target - state.factsPosition > BATCH_FACTS) {
    await copyBatch(context, snapshot, state);
    return "more";
  }
  // After a crash of PostgreSQL projections may be behind what was copied, until they have applied the log again.
  if (position === null || position < state.factsPosition) return "later";
  return {
    position,
    replacedParts: await copyRows(context, snapshot, { ...state, upTo: position }),
  };
}

async function assertSameLog(
  { head, factDigest }: CopySnapshot,
  { factsPosition, lastFact }: Pick<SinkState, "factsPosition" | "lastFact">,
): Promise<void> {
  if (factsPosition === 0n) return;
  const digest = factsPosition > head ? null : await factDigest(factsPosition);
  if (digest === lastFact) return;
  throw new AnotherLog(
    `the copy holds facts up to ${factsPosition} that this log (up to ${head}) does not have: ` +
      "after a restore or a failover that lost facts, copy all again with `op analytics sync --anew`",
  );
}

async function copyBatch(
  { sink, tables }: Sync,
  snapshot: CopySnapshot,
  state: Omit<SinkState, "committedAt">,
): Promise<void> {
  const upTo = state.factsPosition + BATCH_FACTS;
  const batch = await sink.begin();
  await insertFacts({ batch, snapshot, columns: tables.facts }, state.factsPosition, upTo);
  await batch.commit({ ...state, factsPosition: upTo, lastFact: await snapshot.factDigest(upTo) });
}

type Insert = { batch: SyncBatch; snapshot: CopySnapshot; columns: readonly CopiedColumn[] };

async function insertFacts({ batch, snapshot, columns }: Insert, after: bigint, upTo: bigint) {
  if (upTo <= after) return;
  await batch.insert("facts", snapshot.copyFacts({ columns, number: batch.number }, after, upTo));
}

async function copyRows(
  { sink, tables }: Sync,
  snapshot: CopySnapshot,
  { upTo, ...state }: Omit<SinkState, "committedAt"> & { upTo: bigint },
): Promise<number> {
  const tableIds = await snapshot.tableIds();
  const changes: Change[] = [];
  for (const [dataSet, columns] of tables.rows) {
    const change = await changeOf(dataSet, { sink, snapshot, state, upTo, tableIds });
    if (change !== null) changes.push({ ...change, dataSet, columns });
  }
  const isUnmoved = upTo === state.position && upTo === state.factsPosition;
  if (isUnmoved && changes.length === 0) return 0;
  const batch = await sink.begin();
  const { facts: columns } = tables;
  await insertFacts({ batch, snapshot, columns }, state.factsPosition, upTo);
  for (const change of changes) await replaceRows(batch, snapshot, change);
  const lastFact = upTo === 0n ? null : await snapshot.factDigest(upTo);
  await batch.commit({ position: upTo, factsPosition: upTo, lastFact, tableIds });
  return changes.reduce((sum, { parts }) => sum + (parts === "all" ? 1 : parts.length), 0);
}

type Parts = { parts: readonly Part[] | "all"; digests?: Digests };
type Change = Parts & { dataSet: DataSet; columns: readonly CopiedColumn[] };
type Changing = {
  sink: Sink;
  snapshot: CopySnapshot;
  state: Omit<SinkState, "committedAt">;
  upTo: bigint;
  tableIds: Record<string, string>;
};

/** Parts whose rows may differ from those of the copy; null: none. */
async function changeOf(
  dataSet: DataSet,
  { sink, snapshot, state, upTo, tableIds }: Changing,
): Promise<Parts | null> {
  const { name, table } = dataSet;
  if (table !== undefined) {
    if (tableIds[table] !== state.tableIds[table]) return { parts: "all" };
    const parts = await snapshot.changedParts(dataSet, state.position, upTo);
    if (parts.length > MOST_PARTS) return { parts: "all" };
    return parts.length === 0 ? null : { parts };
  }
  const [held, digests] = [await sink.readDigests(name), await snapshot.digests(dataSet)];
  if (held.size === 0) return digests.size === 0 ? null : { parts: "all", digests };
  const all = new Set([...held.keys(), ...digests.keys()]);
  const parts = [...all].filter((part) => held.get(part) !== digests.get(part));
  if (parts.length === 0) return null;
  return { parts, digests: new Map(parts.map((part) => [part, digests.get(part) ?? ""])) };
}

async function replaceRows(
  batch: SyncBatch,
  snapshot: CopySnapshot,
  { dataSet, columns, parts, digests }: Change,
): Promise<void> {
  await batch.remove(dataSet.name, parts);
  const copied = { dataSet, columns, number: batch.number };
  await batch.insert(dataSet.name, snapshot.copyRows(copied, parts));
  if (digests !== undefined) await batch.setDigests(dataSet.name, digests);
}

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
export type SyncBatch = {
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
  begin(): Promise<SyncBatch>;
  /** Frees the space of rows that were replaced. */
  compact(): Promise<void>;
  close(): Promise<void>;
};
