import type { Request, Response } from "express";
import { type Rejection, reject } from "../../../../projections/domain/rejection.ts";
import { splitAddress } from "../split-address.ts";

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

/** A position, or one for each of some chains: `1=120,33139=455`. */
const position = /^\d{1,18}$/;
const positions = /^\d{1,10}=\d{1,18}(,\d{1,10}=\d{1,18}){0,9}$/;

/**
 * The position that the data of the answer must have reached at least, in the log of some chains: of the header and the
 * parameter the higher one. Positions of other chains say nothing of that log.
 */
export function minPosition(
  request: Request,
  chains: readonly number[],
): bigint | Rejection<"invalid_position"> {
  const given = [request.get(header), request.query[positionParameter]];
  let highest = 0n;
  for (const text of given) {
    if (text === undefined) continue;
    if (typeof text !== "string" || !(position.test(text) || positions.test(text))) return invalid;
    for (const one of positionsIn(text, chains)) if (one > highest) highest = one;
  }
  return highest;
}

function positionsIn(text: string, chains: readonly number[]): bigint[] {
  if (position.test(text)) return [BigInt(text)];
  const named = text.split(",").map((entry) => entry.split("=", 2));
  return named.flatMap(([chain, at]) =>
    chains.includes(Number(chain)) && at !== undefined ? [BigInt(at)] : [],
  );
}

const invalid = reject(
  "invalid_position",
  `${header} and ${positionParameter} take the value of an X-Position header: digits, or digits by chain`,
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

/** The position of each of some chains, which one log holds. */
export const positionByChain = (chains: readonly number[], at: bigint): string =>
  chains.map((chain) => `${chain}=${at}`).join(",");

/** Tells the position of an answer. Caches on the way must not give an answer to a request that names another one. */
export function setPosition(response: Response, text: string): void {
  response.set("X-Position", text);
  response.vary(header);
}
