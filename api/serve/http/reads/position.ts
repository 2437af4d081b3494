import type { Request, Response } from "express";
import { type Rejection, reject } from "../../../../projections/domain/rejection.ts";

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
const parameter = "min_position";

/** The position that the data of the answer must have reached at least: of the header and the parameter the higher one. */
export function minPosition(request: Request): bigint | Rejection<"invalid_position"> {
  const given = [request.get(header), request.query[parameter]];
  let highest = 0n;
  for (const text of given) {
    if (text === undefined) continue;
    if (typeof text !== "string" || !/^\d{1,18}$/.test(text)) return invalid;
    const position = BigInt(text);
    if (position > highest) highest = position;
  }
  return highest;
}

const invalid = reject(
  "invalid_position",
  `${header} and ${parameter} take the value of an X-Position header: digits`,
  [{ field: parameter, message: "must be the value of an X-Position header" }],
);

/** The address of a request as far as it names what is asked: without the position. */
export function addressOf({ originalUrl }: Request): string {
  if (!originalUrl.includes(parameter)) return originalUrl;
  const [path = "", query = ""] = originalUrl.split("?", 2);
  const others = query.split("&").filter((pair) => pair.split("=", 1)[0] !== parameter);
  return others.length === 0 ? path : `${path}?${others.join("&")}`;
}

/** Tells the position of an answer. Caches on the way must not give an answer to a request that names another one. */
export function setPosition(response: Response, position: bigint): void {
  response.set("X-Position", position.toString());
  response.vary(header);
}
