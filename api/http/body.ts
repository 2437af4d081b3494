import type { Readable } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import type { Request, RequestHandler, Response } from "express";
import { type Rejection, reject } from "#projections/domain/rejection.ts";
import { sendRejection } from "./answer.ts";
import { setItems } from "./concurrency.ts";

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

/** HTTP status of each code. */
export const bodyRefusals = { payload_too_large: 413, unsupported_media_type: 415 } as const;

type BodyRejection = Rejection<keyof typeof bodyRefusals>;

const decompressors: Record<string, () => NodeJS.ReadWriteStream & Readable> = {
  gzip: createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

/**
 * The bytes of a body, decompressed. One that is too large is rejected as soon as that is known: by its Content-Length
 * before a byte is read, else at the byte that is too many. What still arrives is discarded by Node.
 * "unreadable": it is not compressed as it says, or the caller went away.
 */
async function readBody(
  request: Request,
  maxBytes: number,
): Promise<Buffer | BodyRejection | "unreadable"> {
  const charset = /charset="?([\w-]+)/i.exec(request.get("content-type") ?? "")?.[1] ?? "utf-8";
  if (!/^(utf-?8|us-ascii)$/i.test(charset)) return notUtf8;
  const encoding = (request.get("content-encoding") ?? "identity").toLowerCase();
  const decompressor = decompressors[encoding];
  if (encoding !== "identity" && decompressor === undefined) return unknownEncoding;
  if (Number(request.get("content-length") ?? 0) > maxBytes) return tooLarge(maxBytes);
  const body = decompressor === undefined ? request : request.pipe(decompressor());
  const bytes = await readAll(request, body, maxBytes);
  if (body !== request) {
    request.unpipe();
    body.destroy();
  }
  return bytes;
}

function readAll(
  request: Request,
  body: Readable,
  maxBytes: number,
): Promise<Buffer | BodyRejection | "unreadable"> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const onData = (chunk: Buffer) => {
      length += chunk.byteLength;
      chunks.push(chunk);
      if (length > maxBytes) settle(tooLarge(maxBytes));
    };
    const onEnd = () => settle(Buffer.concat(chunks, length));
    const onFailure = () => settle("unreadable");
    const onClose = () => {
      if (!request.complete) onFailure();
    };
    const settle = (result: Buffer | BodyRejection | "unreadable") => {
      body.off("data", onData).off("end", onEnd);
      request.off("close", onClose);
      resolve(result);
    };
    // Errors may follow the result, when the rest arrives broken.
    body.on("error", onFailure).on("data", onData).once("end", onEnd);
    request.once("close", onClose);
  });
}

const tooLarge = (maxBytes: number): BodyRejection =>
  reject("payload_too_large", `The body is too large: at most ${maxBytes} bytes are read`);
const notUtf8: BodyRejection = reject("unsupported_media_type", "The body must be JSON in UTF-8");
const unknownEncoding: BodyRejection = reject(
  "unsupported_media_type",
  "Content-Encoding must be gzip, deflate, br or identity",
);

/** How much structure a JSON text may have. */
type StructureLimits = {
  /** Objects and arrays within one another. */
  readonly maxDepth: number;
  /** Values of any type, each key's and each element's. */
  readonly maxValues: number;
  /** Values of one element of a list that is a field of the body, where its elements are validated one by one. */
  readonly maxItemValues?: number;
};

/** What a JSON text consists of, found without parsing it. */
type JsonOutline = {
  readonly isTooDeep: boolean;
  readonly hasTooManyValues: boolean;
  /** Elements of the largest list that is a field of the body. */
  readonly items: number;
  /** Byte ranges of elements that are beyond the limits while the rest of the body is not, in order. */
  readonly refusedItems: readonly (readonly [start: number, end: number])[];
};

const [quote, backslash, comma] = [0x22, 0x5c, 0x2c];
const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d];
/** Depth of an element of a list that is a field of the body. */
const itemDepth = 3;

/**
 * One pass over the bytes, in constant memory. It only counts: whether the text is JSON is for the parser to say. Runs
 * before the parser, whose work and stack depend on what is counted here.
 */
function outlineJson(bytes: Uint8Array, limits: StructureLimits): JsonOutline {
  const count = countStructure(limits);
  for (let index = 0; index < bytes.length; index += 1) {
    const byte = bytes[index];
    if (byte === quote) index = endOfString(bytes, index);
    else if (byte === comma) count.separate();
    else if (byte === openBrace || byte === openBracket) count.enter(index, byte === openBracket);
    else if (byte === closeBrace || byte === closeBracket) count.leave(index);
  }
  return count.result();
}

function countStructure({ maxDepth, maxValues, maxItemValues }: StructureLimits) {
  const refusedItems: [number, number][] = [];
  let [depth, values, listItems, items] = [0, 0, 0, 0];
  let item = { start: 0, valuesBefore: 0, isTooDeep: false };
  let isTooDeep = false;
  let isInList = false;
  const leaveItem = (index: number) => {
    if (maxItemValues === undefined) return;
    if (!item.isTooDeep && values - item.valuesBefore <= maxItemValues) return;
    refusedItems.push([item.start, index + 1]);
    // It is cut out, so its values do not count for the others.
    values = item.valuesBefore;
  };
  return {
    enter(index: number, isList: boolean): void {
      depth += 1;
      values += 1;
      if (depth === itemDepth - 1) {
        isInList = isList;
        listItems = isList ? 1 : 0;
      }
      if (depth === itemDepth) item = { start: index, valuesBefore: values, isTooDeep: false };
      if (depth > maxDepth) item.isTooDeep = true;
    },
    leave(index: number): void {
      if (depth === itemDepth) {
        leaveItem(index);
        isTooDeep ||= item.isTooDeep && maxItemValues === undefined;
        item.isTooDeep = false;
      }
      if (depth === itemDepth - 1) items = Math.max(items, listItems);
      depth -= 1;
    },
    separate(): void {
      values += 1;
      if (depth === itemDepth - 1 && isInList) listItems += 1;
    },
    result: (): JsonOutline => ({
      // An element that does not end is none.
      isTooDeep: isTooDeep || item.isTooDeep,
      hasTooManyValues: values > maxValues,
      items,
      refusedItems,
    }),
  };
}

/** The index of the closing quote. */
function endOfString(bytes: Uint8Array, start: number): number {
  let index = start + 1;
  while (index < bytes.length && bytes[index] !== quote)
    index += bytes[index] === backslash ? 2 : 1;
  return index;
}

/** The text with those ranges replaced by `null`. */
function withoutItems(bytes: Buffer, { refusedItems }: JsonOutline): string {
  const parts: string[] = [];
  let from = 0;
  for (const [start, end] of refusedItems) {
    parts.push(bytes.toString("utf8", from, start), "null");
    from = end;
  }
  return parts.concat(bytes.toString("utf8", from)).join("");
}
