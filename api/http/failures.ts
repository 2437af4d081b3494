import type { ErrorRequestHandler, Request, RequestHandler, Response } from "express";
import type { Logger } from "pino";
import { type Rejection, reject } from "#projections/domain/rejection.ts";
import {
  DatabaseUnavailable,
  isConflict,
  isStatementTimeout,
} from "#projections/log/database-failure.ts";
import { sendRejection } from "./answer.ts";
import { PositionNotReached } from "./reads/position.ts";
import { loggedPath, requestIdOf } from "./request.ts";
import type { Refused } from "./route.ts";
import { ReadTimedOut } from "./slow-requests.ts";

/** 404 for paths without a route. */
export const handleUnknownPath: RequestHandler = (request, response) => {
  sendRejection(response, 404, reject("not_found", `No endpoint at ${request.path}`));
};

/**
 * Every thrown error ends here: a 503 while the database is unavailable, else a fault, which becomes a 500. The cause is
 * only in the log.
 */
export function handleErrors(logger: Logger): ErrorRequestHandler {
  return (error: unknown, request, response, next) => {
    if (response.headersSent) {
      next(error);
      return;
    }
    const known = inputError(error, request.method === "GET" || request.method === "HEAD");
    if (known !== undefined) {
      sendRejection(response, known.status, known.rejection);
      return;
    }
    const refusal = databaseRefusal(error, { request, response, logger });
    if (refusal !== undefined) {
      sendRejection(response, databaseRefusals[refusal.rejected], refusal);
      return;
    }
    const { method } = request;
    const [requestId, path] = [requestIdOf(response), loggedPath(request)];
    logger.error({ err: error, requestId, method, path }, "request failed");
    sendRejection(response, 500, reject("internal", "Internal error"));
  };
}

/** Maps what Express and its body parser report about an unreadable request. */
function inputError(
  error: unknown,
  isRead: boolean,
): { status: number; rejection: Rejection } | undefined {
  const status = error instanceof Error && "status" in error ? error.status : undefined;
  if (status === 413) {
    return { status, rejection: reject("payload_too_large", "The body is too large") };
  }
  if (status === 415) {
    return {
      status,
      rejection: reject("unsupported_media_type", "The body must be JSON in UTF-8"),
    };
  }
  if (typeof status !== "number" || status < 400 || status >= 500) return undefined;
  return isRead
    ? { status: 422, rejection: reject("invalid_parameters", "The address cannot be decoded") }
    : { status: 422, rejection: reject("bad_structure", "The body is not well-formed JSON") };
}

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

/** A read needs tables of this release's projections, while those of another release are still served. */
export class TablesNotReady extends Error {}

/** What a read failed with: `TablesNotReady` where a table or column is missing that is still to be derived. */
export type ExplainFailure = (error: unknown) => Promise<unknown>;

export function explainErrors(explain: ExplainFailure): ErrorRequestHandler {
  return (error: unknown, _request, _response, next) => {
    explain(error).then(next, next);
  };
}
