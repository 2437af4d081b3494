import { type RawBuilder, sql, type Transaction } from "kysely";
import { withContractIds } from "../log/contracts.ts";
import { type Database, reusesPlans, type Session } from "../log/database.ts";
import { schemaOf } from "../log/versions.ts";

/** Reads of one snapshot: whatever is written meanwhile, they see the data of one version. */
export type Snapshot = DataVersion & { readonly db: Database };

type SnapshotOptions = {
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

/** What the tables of all projections and the log are as of one snapshot. */
export type DataVersion = {
  /** Changes with every transaction that changes any of them, and never repeats: equal versions mean unchanged data. */
  readonly version: string;
  /** The position of the log that all serving projections have reached; 0 before they exist. */
  readonly position: bigint;
};

/**
 * Made of the transactions that last wrote each checkpoint and the log's head, since a swap changes tables without
 * moving a position, and of the positions, since a crash may undo a tick and its transaction's number is then given to
 * another. A standby has the same numbers. `projections`: their names.
 */
function selectDataVersion(projections: readonly string[]): RawBuilder<DataVersion> {
  const serving = sql.join(projections.map((name) => sql.lit(schemaOf(name))));
  return sql<DataVersion>`
    select concat_ws(' ', h.xmin, c.written) as version, c.position
    from log.head h, (
      select string_agg(concat_ws(' ', c.projection, c.position, c.xmin), ' ' order by c.projection) as written,
             coalesce(min(c.position) filter (where c.projection = any (array[${serving}]::text[])), 0) as position
      from engine.checkpoint c
    ) c`;
}

export async function readDataVersion(
  session: Session,
  projections: readonly string[],
): Promise<DataVersion> {
  const { rows } = await selectDataVersion(projections).execute(session);
  return onlyVersion(rows);
}

function onlyVersion(rows: readonly DataVersion[]): DataVersion {
  const [row] = rows;
  if (row === undefined) throw new Error("log.head has no row: the log's migration did not run");
  return row;
}

/** Derives in a transaction with one snapshot; in another one where contracts had to be registered first. */
export async function deriveInSnapshot<Result>(
  db: Database,
  work: (session: Transaction<Record<string, never>>) => Promise<Result>,
): Promise<Result> {
  return await withContractIds(db, () =>
    db.transaction().setIsolationLevel("repeatable read").execute(work),
  );
}
