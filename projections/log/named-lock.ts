import { sql } from "kysely";
import type { Database } from "./database.ts";

/** The schema of the locks: one empty view each. */
export const locksSchema = "locks";

/** Runs one statement on a connection. */
type Run = (statement: string) => Promise<unknown>;

/**
 * Creates a lock unless it exists. A lock is the table lock of an empty view: advisory locks can be taken by every role
 * of a database. No vacuum waits for a view, and who holds its lock has neither a snapshot nor a transaction id, so that
 * rows are vacuumed meanwhile.
 */
export async function createLock(run: Run, name: string): Promise<void> {
  await run(`do $create$ begin
    if to_regclass(${quoted(viewOf(name))}) is not null then return; end if;
    -- "if not exists" asks for the right to create schemas, which not every process has, also where there is one.
    if to_regnamespace('${locksSchema}') is null then
      begin
        create schema ${locksSchema};
      exception when unique_violation or duplicate_schema then null;
      end;
    end if;
    begin
      create view ${viewOf(name)} as select true as held;
    exception when unique_violation or duplicate_table then null;
    end;
  end $create$`);
}

/** Takes a lock until the end of the transaction. `nowait` fails with 55P03 where another transaction holds it. */
export async function takeLock(run: Run, name: string, wait: "wait" | "nowait"): Promise<void> {
  await run(`lock table ${viewOf(name)} in exclusive mode ${wait === "wait" ? "" : "nowait"}`);
}

/** Begins the transaction that holds a lock, whatever time limits the server sets for transactions. */
export async function beginHolding(run: Run): Promise<void> {
  await run("begin isolation level read committed");
  await run(`select set_config(name, '0', true) from pg_settings
             where name in ('idle_in_transaction_session_timeout', 'transaction_timeout')`);
}

/**
 * Does work under a lock; another process waits, with `waitMs` so long at most, and then fails with 55P03. The lock ends
 * with its connection at the latest.
 */
export async function withLock<Result>(
  db: Database,
  name: string,
  work: () => Promise<Result>,
  { waitMs }: { readonly waitMs?: number } = {},
): Promise<Result> {
  return await db.connection().execute(async (connection) => {
    const run: Run = (statement) => sql.raw(statement).execute(connection);
    await createLock(run, name);
    try {
      await beginHolding(run);
      if (waitMs !== undefined) await run(`set local lock_timeout = ${waitMs}`);
      await takeLock(run, name, "wait");
      return await work();
    } finally {
      await run("rollback");
    }
  });
}

/** Whether an error says that another transaction holds the lock. */
export function isLockHeld(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "55P03";
}

/** The view of a lock, as SQL. */
export const viewOf = (name: string) => `${locksSchema}."${name.replaceAll('"', '""')}"`;
const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`;
