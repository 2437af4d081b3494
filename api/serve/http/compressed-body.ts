import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import compression from "compression";
import type { Request, Response } from "express";

const encodings = {
  br: promisify((body: Buffer, done: (error: Error | null, packed: Buffer) => void) =>
    brotliCompress(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }, done),
  ),
  gzip: promisify((body: Buffer, done: (error: Error | null, packed: Buffer) => void) =>
    gzip(body, done),
  ),
};
type Encoding = keyof typeof encodings;

type CompressedBody = { readonly encoding: Encoding; readonly body: Buffer };

/** Smaller bodies are not compressed; the threshold of the `compression` middleware. */
const minBytes = 1_024;

const compressedBodies = new WeakMap<object, Map<Encoding, Promise<Buffer>>>();

/** A document that is sent often: fixed ones from the first time on, others from the second. */
type Compressible = { readonly body: Buffer; readonly isFixed?: boolean | undefined };

/**
 * The compressed body of a document that is sent more than once, compressed once per encoding. Undefined when the body
 * is sent as it is.
 */
export async function compressedBodyFor(
  request: Request,
  document: Compressible,
): Promise<CompressedBody | undefined> {
  const known = compressedBodies.get(document) ?? new Map<Encoding, Promise<Buffer>>();
  const isFirst = !compressedBodies.has(document);
  compressedBodies.set(document, known);
  if (isFirst && document.isFixed !== true) return undefined;
  if (document.body.byteLength < minBytes || request.headers["accept-encoding"] === undefined)
    return undefined;
  const chosen = request.acceptsEncodings("br", "gzip", "identity");
  if (chosen !== "br" && chosen !== "gzip") return undefined;
  const packing = known.get(chosen) ?? encodings[chosen](document.body);
  known.set(chosen, packing);
  return { encoding: chosen, body: await packing };
}

/** Marks a response as large and fixed: it is sent prepared or as it is, and never compressed for one caller. */
export function markPrepared(response: Response): void {
  response.locals.isPrepared = true;
  response.vary("Accept-Encoding");
}

/** Filter of the `compression` middleware, which would otherwise compress for encodings that are not prepared. */
export const skipPrepared: compression.CompressionFilter = (request, response) =>
  (response as Response).locals.isPrepared !== true && compression.filter(request, response);
