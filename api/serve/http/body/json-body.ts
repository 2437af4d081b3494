import type { RequestHandler, Response } from "express";
import { sendRejection } from "../answer.ts";
import { setItems } from "../concurrency/limit-concurrency.ts";
import { type JsonOutline, outlineJson, withoutItems } from "./json-outline.ts";
import { bodyRefusals, readBody } from "./read-body.ts";

/** What a body may contain, beside its schema. */
export type BodyLimits = {
  /** Uncompressed. Default 16 kB. */
  readonly maxBytes?: number;
  /** Keys and elements in all. Default 300. */
  readonly maxValues?: number;
  /** Set where elements of the body's list are validated one by one: keys and elements of each. */
  readonly maxItemValues?: number;
};

const defaults = { maxBytes: 16_384, maxValues: 300 };

/** Objects and arrays within one another. A signed order in a bulk request needs seven. */
const maxDepth = 16;

/**
 * Parses a body as JSON, whatever its Content-Type: callers forget the header. Its size, depth and number of values
 * are bounded before it is parsed. A malformed one is refused with `refuse`; an element that is too deep or too large becomes null where elements are validated one by one.
 */
export function jsonBody(
  given: BodyLimits,
  refuse: (response: Response, message: string) => void,
): RequestHandler {
  const limits = { ...defaults, ...given, maxDepth };
  return async (request, response, next) => {
    const bytes = await readBody(request, limits.maxBytes);
    if (bytes === "unreadable") return refuse(response, "The body cannot be read");
    if ("rejected" in bytes) return sendRejection(response, bodyRefusals[bytes.rejected], bytes);
    if (bytes.byteLength === 0) return next();
    const outline = outlineJson(bytes, limits);
    const problem = structureProblem(outline, limits);
    if (problem !== undefined) return refuse(response, problem);
    const parsed = parse(withoutItems(bytes, outline));
    if (parsed === undefined) return refuse(response, "The body is not well-formed JSON");
    request.body = parsed;
    setItems(response, outline.items);
    next();
  };
}

function structureProblem(
  { isTooDeep, hasTooManyValues }: JsonOutline,
  { maxValues }: { maxValues: number },
): string | undefined {
  if (isTooDeep) return `The body is nested deeper than ${maxDepth} levels`;
  return hasTooManyValues ? `The body has more than ${maxValues} keys and elements` : undefined;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
