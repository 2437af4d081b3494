import type { RequestHandler } from "express";
import { type Rejection, type RejectionDetail, reject } from "#projections/domain/rejection.ts";
import { sendRejection } from "./answer.ts";
import { nearestName } from "./nearest-name.ts";
import { positionParameter } from "./reads/position.ts";
import { type Route, readsOf } from "./route.ts";

/** Code of every endpoint. */
export const parameterRefusals = { unknown_parameter: 422 } as const;

/** Names that the query of a request to a route may have; `shared`: those that every route of its API takes. */
export function parametersOf<Context>(
  route: Pick<Route<Context>, "method" | "query" | "reads">,
  shared: readonly string[] = [],
): readonly string[] {
  const position = readsOf(route) === "nothing" ? [] : [positionParameter];
  return [...new Set([...Object.keys(route.query?.shape ?? {}), ...shared, ...position])];
}

/** A mistyped name would be left out of account, so that the answer is to another question. */
export function unknownParameters(
  query: object,
  known: readonly string[],
): Rejection<"unknown_parameter"> | undefined {
  const unknown = Object.keys(query).filter((name) => !known.includes(name));
  if (unknown.length === 0) return undefined;
  const details = unknown.slice(0, maxDetails).map((name) => detailOf(name, known));
  const [first] = details;
  return reject("unknown_parameter", `${first?.field}: ${first?.message}`, details);
}

const maxDetails = 20;
const maxShown = 100;

function detailOf(name: string, known: readonly string[]): RejectionDetail {
  const field = name.slice(0, maxShown);
  const nearest = nearestName(name, known);
  if (nearest !== undefined) {
    const message = `is not a parameter of this request; did you mean ${nearest}?`;
    return { field, expected: nearest, message };
  }
  const message = "is not a parameter of this request, which";
  if (known.length === 0) return { field, message: `${message} takes none` };
  return { field, message: `${message} takes ${known.join(", ")}` };
}

/** Before anything else is done for the request, so that it is no key of any cache. */
export function refuseUnknownParameters(known: readonly string[]): RequestHandler {
  return (request, response, next) => {
    const refusal = unknownParameters(request.query, known);
    if (refusal === undefined) next();
    else sendRejection(response, parameterRefusals[refusal.rejected], refusal);
  };
}
