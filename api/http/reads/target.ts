import { type DataVersion, readDataVersion } from "#projections/engine/snapshot.ts";
import { readLogHead } from "#projections/log/blocks.ts";
import type { Database } from "#projections/log/database.ts";
import type { LoadClass } from "../concurrency.ts";

/** A database that answers are read from: the primary, or a replica of it. */
export type ReadSource = {
  /** For logs and metrics: host and port. */
  readonly name: string;
  readonly dbOf: (loadClass: LoadClass) => Database;
  /** Its data's version now, by a statement that concurrent callers share. */
  readonly readVersion: () => Promise<DataVersion>;
  /** The position of the last fact of its log now; shared likewise. */
  readonly readHead: () => Promise<bigint>;
};

type TargetOptions = {
  readonly name?: string;
  readonly db: Database;
  /** Of long lists and pages, so that they do not hold connections of other reads. */
  readonly listDb?: Database | undefined;
  /** A cached response does not wait for connections that are busy with other responses. */
  readonly versionDb?: Database | undefined;
};

export function openTarget(
  { name = "primary", db, listDb = db, versionDb = db }: TargetOptions,
  projections: readonly string[],
): ReadSource {
  return {
    name,
    dbOf: (loadClass) => (loadClass === "lists" ? listDb : db),
    readVersion: shareReads(() => readDataVersion(versionDb, projections)),
    readHead: shareReads(() => readLogHead(versionDb)),
  };
}

/** One read at a time; callers that arrive during a read share the next one, which starts after they arrived. */
function shareReads<Value>(read: () => Promise<Value>): () => Promise<Value> {
  let current: Promise<Value> | undefined;
  let next: Promise<Value> | undefined;
  const begin = (): Promise<Value> => {
    next = undefined;
    current = read().finally(() => {
      current = undefined;
    });
    return current;
  };
  return () => {
    if (current === undefined) return begin();
    next ??= current.then(begin, begin);
    return next;
  };
}
