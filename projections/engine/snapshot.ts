import { sql } from "kysely";
import { type Database, reusesPlans } from "../log/database.ts";
import { type DataVersion, onlyVersion, selectDataVersion } from "./data-version.ts";

/** Reads of one snapshot: whatever is written meanwhile, they see the data of one version. */
export type Snapshot = DataVersion & { readonly db: Database };

export type SnapshotOptions = {
  /** Names of the serving projections. */
  readonly projections: readonly string[];
  /** Called when the snapshot is about to be taken: what was written before is in it. */
  readonly onBegin?: (() => void) | undefined;
  /** Whether a prepared statement is planned once, for any values. */
  readonly plansOnce?: boolean | undefined;
};

/**
 * Reads in a transaction of one connection, so that all reads are of one server, whatever is behind its address. The
 * transaction's first round trip also tells the data's version; its end is not waited for.
 */
export function inSnapshot<Result>(
  db: Database,
  { projections, onBegin, plansOnce = false }: SnapshotOptions,
  read: (snapshot: Snapshot) => Promise<Result>,
): Promise<Result> {
  const plans = plansOnce && reusesPlans(db) ? planOnce : sql``;
  return new Promise((resolve, reject) => {
    const work = async (session: Database) => {
      onBegin?.();
      try {
        const { rows } = await sql<DataVersion>`
          begin isolation level repeatable read read only; ${plans} ${selectDataVersion(projections)}`.execute(
          session,
        );
        const snapshot = Object.assign(session, { transaction: refuseTransaction });
        resolve(await read({ ...onlyVersion(rows), db: snapshot }));
      } catch (error) {
        reject(error);
      } finally {
        await sql`commit`.execute(session);
      }
    };
    db.connection().execute(work).catch(reject);
  });
}

const planOnce = sql`set local plan_cache_mode = force_generic_plan;`;

/** Its end would end the snapshot: PostgreSQL has no transaction within another. */
function refuseTransaction(): never {
  throw new Error("a read of a snapshot cannot begin a transaction");
}
