import type { RequestHandler } from "express";
import { reject } from "#projections/domain/rejection.ts";
import { sendRejection } from "./answer.ts";
import { keyOf, limitRefusals } from "./limit.ts";
import type { Scope } from "./scope.ts";

/** Refuses keys that lack the scope of an endpoint. */
export function requireScope(scope: Scope): RequestHandler {
  return (_request, response, next) => {
    const held = keyOf(response)?.scopes ?? null;
    if (held === null || held.includes(scope)) {
      next();
      return;
    }
    const message = `This key may not be used here: it has the scopes ${held.join(", ")}, not ${scope}`;
    const rejection = reject("insufficient_scope", message);
    sendRejection(response, limitRefusals.insufficient_scope, rejection);
  };
}
