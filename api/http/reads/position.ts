import type { Request, Response } from "express";
import { type Rejection, reject } from "#projections/domain/rejection.ts";

/** Code of every endpoint that reads projections. */
export const positionRefusals = { invalid_position: 422 } as const;

/** No database that may be read has reached the position that a request names. */
export class PositionNotReached extends Error {
  readonly retryAfterSeconds = 1;

  readonly asked: bigint;
  readonly reached: bigint;

  constructor(asked: bigint, reached: bigint) {
    super(`position ${asked} is not reached yet: reads are at ${reached}`);
    this.asked = asked;
    this.reached = reached;
  }
}

const header = "X-Min-Position";
/** The header as a query parameter. */
export const positionParameter = "min_position";

const position = /^\d{1,18}$/;

/** The position that the data of the answer must have reached at least: of the header and the parameter the higher one. */
export function minPosition(request: Request): bigint | Rejection<"invalid_position"> {
  const given = [request.get(header), request.query[positionParameter]];
  let highest = 0n;
  for (const text of given) {
    if (text === undefined) continue;
    if (typeof text !== "string" || !position.test(text)) return invalid;
    if (BigInt(text) > highest) highest = BigInt(text);
  }
  return highest;
}

const invalid = reject(
  "invalid_position",
  `${header} and ${positionParameter} take the value of an X-Position header: digits`,
  [{ field: positionParameter, message: "must be the value of an X-Position header" }],
);

/** The address of a request as far as it names what is asked: without the position. */
export function addressOf({ originalUrl }: Request): string {
  if (!originalUrl.includes(positionParameter)) return originalUrl;
  const [path, query] = splitAddress(originalUrl);
  const others = query.split("&").filter((pair) => pair.split("=", 1)[0] !== positionParameter);
  return others.length === 0 ? path : `${path}?${others.join("&")}`;
}

/** The address of a request with these of its parameters only: what it asks, where others are ignored. */
export function addressWith(
  { originalUrl }: Pick<Request, "originalUrl">,
  known: readonly string[],
): string {
  const [path, query] = splitAddress(originalUrl);
  const names = new Set(known);
  const kept = query.split("&").filter((pair) => {
    const [[name = ""] = []] = new URLSearchParams(pair);
    return names.has(name.split("[", 1)[0] ?? "");
  });
  return kept.length === 0 ? path : `${path}?${kept.join("&")}`;
}

/** Tells the position of an answer. Caches on the way must not give an answer to a request that names another one. */
export function setPosition(response: Response, at: bigint): void {
  response.set("X-Position", at.toString());
  response.vary(header);
}

/**
 * A request's path and its query, without the question mark between them: the first one. A query may hold others, and is
 * parsed with all that follows.
 */
export function splitAddress(address: string): readonly [path: string, query: string] {
  const end = address.indexOf("?");
  return end < 0 ? [address, ""] : [address.slice(0, end), address.slice(end + 1)];
}
