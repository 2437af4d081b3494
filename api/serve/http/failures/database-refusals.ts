import type { Request, Response } from "express";
import type { Logger } from "pino";
import { DatabaseUnavailable, isConflict, isStatementTimeout } from "#projections/log/database-failure.ts";
import { reject } from "#projections/domain/rejection.ts";
import { ReadTimedOut } from "../concurrency/slow-requests.ts";
import { loggedPath } from "../logged-path.ts";
import { PositionNotReached } from "../reads/position.ts";
import { requestIdOf } from "../request-id.ts";
import type { Refused } from "../route.ts";
import { TablesNotReady } from "./unready-tables.ts";

/** Codes of every endpoint, since all of them read the database. */
export const databaseRefusals = {
  database_unavailable: 503,
  position_not_reached: 503,
  query_timeout: 503,
} as const;

type DatabaseRefusal = Refused<keyof typeof databaseRefusals> & { retryAfterSeconds: number };

/** A restart takes seconds. */
const unavailableSeconds = 2;
/** A release derives the tables of its own versions after its start. */
const derivingSeconds = 5;
/** What took too long once does so again while the server is as busy. */
const timeoutSeconds = 10;

/**
 * How a request is refused that failed for the database's state: 503, and `Retry-After` is set; the reason is in the log.
 * Undefined: it failed for another reason.
 */
export function databaseRefusal(
  error: unknown,
  { request, response, logger }: { request: Request; response: Response; logger: Logger },
): DatabaseRefusal | undefined {
  const refusal = refusalOf(error);
  if (refusal === undefined) return undefined;
  const { method } = request;
  // A position is the caller's own, and every caller may name one; `position_wait_seconds` counts those in the log.
  const level = error instanceof PositionNotReached ? "debug" : "warn";
  // Without the stack: while the database is down this is written for every request.
  const reason = error instanceof Error ? error.message : String(error);
  const [requestId, path] = [requestIdOf(response), loggedPath(request)];
  logger[level](
    { reason, requestId, method, path, code: refusal.rejected },
    "request refused for the state of the database",
  );
  if (!response.headersSent) response.set("Retry-After", String(refusal.retryAfterSeconds));
  return refusal;
}

function refusalOf(error: unknown): DatabaseRefusal | undefined {
  if (error instanceof ReadTimedOut) return queryTimeout(error.retryAfterSeconds);
  if (error instanceof PositionNotReached) {
    const { asked, reached, retryAfterSeconds } = error;
    const message = `Position ${asked} is not reached: reads are at ${reached}; retry in ${retryAfterSeconds} s`;
    return { ...reject("position_not_reached", message), retryAfterSeconds };
  }
  if (error instanceof TablesNotReady)
    return unavailable("Its tables are being derived for this release", derivingSeconds);
  if (isStatementTimeout(error)) return queryTimeout(timeoutSeconds);
  if (!(error instanceof DatabaseUnavailable || isConflict(error))) return undefined;
  return unavailable("The database is unavailable", unavailableSeconds);
}

function unavailable(reason: string, retryAfterSeconds: number): DatabaseRefusal {
  const message = `${reason}; retry in ${retryAfterSeconds} s`;
  return { ...reject("database_unavailable", message), retryAfterSeconds };
}

function queryTimeout(retryAfterSeconds: number): DatabaseRefusal {
  const message = `Reading this takes too long at present; narrow the filters, or retry in ${retryAfterSeconds} s`;
  return { ...reject("query_timeout", message), retryAfterSeconds };
}
