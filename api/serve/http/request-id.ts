import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";

const acceptable = /^[\w-]{8,64}$/;

/** The caller's own id when it is well formed, else a new one; returned in X-Request-Id. */
export function assignRequestId(request: IncomingMessage, response: ServerResponse): string {
  const given = request.headers["x-request-id"];
  const id = typeof given === "string" && acceptable.test(given) ? given : randomUUID();
  response.setHeader("X-Request-Id", id);
  return id;
}

export function requestIdOf(response: ServerResponse): string {
  return String(response.getHeader("X-Request-Id") ?? "");
}
