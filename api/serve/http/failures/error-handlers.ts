import type { ErrorRequestHandler, RequestHandler } from "express";
import type { Logger } from "pino";
import { type Rejection, reject } from "#projections/domain/rejection.ts";
import { sendRejection } from "../answer.ts";
import { loggedPath } from "../logged-path.ts";
import { requestIdOf } from "../request-id.ts";
import { databaseRefusal, databaseRefusals } from "./database-refusals.ts";

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
