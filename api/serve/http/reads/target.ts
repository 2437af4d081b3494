import type { Database } from "#projections/log/database.ts";
import { type DataVersion, readDataVersion } from "#projections/engine/snapshot.ts";
import { readLogHead } from "#projections/log/blocks.ts";
import type { LoadClass } from "../concurrency/load-class.ts";
import { shareReads } from "./share-reads.ts";

/** A database that answers are read from: the primary, or a replica of it. */
export type Target = {
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
): Target {
  return {
    name,
    dbOf: (loadClass) => (loadClass === "lists" ? listDb : db),
    readVersion: shareReads(() => readDataVersion(versionDb, projections)),
    readHead: shareReads(() => readLogHead(versionDb)),
  };
}
