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

type Packed = { readonly encoding: Encoding; readonly body: Buffer };

/** Bytes below which packing is not worth it, as the middleware that packs other answers has it. */
const leastBytes = 1_024;

const packings = new WeakMap<object, Map<Encoding, Promise<Buffer>>>();

/** A document that is sent again is packed once for all. Undefined: it goes out as it is, or for the first time. */
export async function packedFor(
  request: Request,
  document: { readonly body: Buffer },
): Promise<Packed | undefined> {
  const known = packings.get(document);
  if (known === undefined) {
    packings.set(document, new Map());
    return undefined;
  }
  if (document.body.byteLength < leastBytes || request.headers["accept-encoding"] === undefined)
    return undefined;
  const chosen = request.acceptsEncodings("br", "gzip", "identity");
  if (chosen !== "br" && chosen !== "gzip") return undefined;
  const packing = known.get(chosen) ?? encodings[chosen](document.body);
  known.set(chosen, packing);
  return { encoding: chosen, body: await packing };
}
