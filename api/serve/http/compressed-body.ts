import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import type { Request } from "express";

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

/**
 * The compressed body of a document that is sent more than once, compressed once per encoding. Undefined on the first
 * send, or when the body is sent as it is.
 */
export async function compressedBodyFor(
  request: Request,
  document: { readonly body: Buffer },
): Promise<CompressedBody | undefined> {
  const known = compressedBodies.get(document);
  if (known === undefined) {
    compressedBodies.set(document, new Map());
    return undefined;
  }
  if (document.body.byteLength < minBytes || request.headers["accept-encoding"] === undefined)
    return undefined;
  const chosen = request.acceptsEncodings("br", "gzip", "identity");
  if (chosen !== "br" && chosen !== "gzip") return undefined;
  const packing = known.get(chosen) ?? encodings[chosen](document.body);
  known.set(chosen, packing);
  return { encoding: chosen, body: await packing };
}
