import pg from "pg";

/**
 * The database cannot be used at present: it is down, starting or full, or a connection was lost. Whether a statement
 * that was under way had an effect is unknown.
 */
export class DatabaseUnavailable extends Error {
  /** SQLSTATE, or the operating system's code. */
  readonly code: string | undefined;

  constructor(cause: unknown) {
    super(cause instanceof Error ? cause.message : "the database is unavailable", { cause });
    this.code = codeOf(cause);
  }
}

/** What a statement failed with: `DatabaseUnavailable` where another statement would have failed too. */
export function statementFailure(error: unknown): unknown {
  return isOutage(error) ? new DatabaseUnavailable(error) : error;
}

/** Whether the server ended a statement because it took longer than its connection allows. */
export function isStatementTimeout(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === "57014";
}

/** Whether a statement named a schema, a table or a column that does not exist. */
export function isMissingRelation(error: unknown): boolean {
  return error instanceof pg.DatabaseError && missing.has(error.code ?? "");
}

/** Invalid schema name, undefined table, undefined column. */
const missing = new Set(["3F000", "42P01", "42703"]);

/** A statement whose answer was not waited for any longer: its connection is of no more use. */
export class ServerSilent extends Error {
  constructor() {
    super("the database did not answer in time");
  }
}

/** Whether a statement failed because one before it had, in the same transaction. */
export const isOfFailedTransaction = (error: unknown): boolean => codeOf(error) === "25P02";

/** Serialization failure or deadlock: nothing was written, and another try may succeed. */
export function isConflict(error: unknown): boolean {
  const code = codeOf(error);
  return code === "40001" || code === "40P01";
}

/** SQLSTATE classes: connection exceptions, insufficient resources, errors of the server's system. */
const outageClasses = new Set(["08", "53", "58"]);
/** The server stops or starts; a transaction was idle for too long; a standby that accepts no writes. */
const outages = new Set(["57P01", "57P02", "57P03", "57P04", "57P05", "25P03", "25006"]);
/** The driver's own errors have no codes. */
const lostConnection = /^(Connection terminated|Client (has encountered|was closed))/;

function isOutage(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof pg.DatabaseError) {
    const code = error.code ?? "";
    return outages.has(code) || outageClasses.has(code.slice(0, 2));
  }
  return "syscall" in error || error instanceof ServerSilent || lostConnection.test(error.message);
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && "code" in error ? String(error.code) : undefined;
}
