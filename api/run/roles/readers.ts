import type { Logger } from "pino";
import { type Database, type DatabaseAddress, mostPrepared, openDatabase } from "#projections/log/database.ts";
import { openTarget, type ReadSource } from "#api/http/reads/target.ts";

/** The connections that the API reads a database with, kept apart so that none of them waits for slower ones. */
export type Readers = {
  readonly db: Database;
  /** Of long lists and pages. */
  readonly listDb: Database;
  readonly target: ReadSource;
  close(): Promise<void>;
};

type ReadersOptions = {
  readonly address: DatabaseAddress;
  readonly name?: string;
  /** Names of the serving projections. */
  readonly projections: readonly string[];
  readonly logger: Logger;
};

/** Connections at most. */
const most = { reads: 8, lists: 4 };
/** Milliseconds for a statement. A list that takes longer holds one of few connections. */
const timeoutsMs = { reads: 5_000, lists: 2_000 };

export function openReaders({ address, name, projections, logger }: ReadersOptions): Readers {
  const shared = {
    ...address,
    onIdleError: (error: Error) =>
      logger.warn({ err: error, database: name }, "database connection lost"),
  };
  const pool = (of: keyof typeof most, applicationName: string) =>
    openDatabase({
      ...shared,
      applicationName,
      max: most[of],
      statementTimeoutMs: timeoutsMs[of],
      prepares: mostPrepared,
    });
  const db = pool("reads", "api");
  const listDb = pool("lists", "api lists");
  const versionDb = openDatabase({
    ...shared,
    applicationName: "api data version",
    max: 1,
    statementTimeoutMs: timeoutsMs.reads,
    prepares: true,
  });
  return {
    db,
    listDb,
    target: openTarget({ ...(name !== undefined && { name }), db, listDb, versionDb }, projections),
    async close() {
      await Promise.all([db, listDb, versionDb].map((one) => one.destroy()));
    },
  };
}
