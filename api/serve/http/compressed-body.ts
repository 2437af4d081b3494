import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import compression from "compression";
import type { Request, Response } from "express";

type Encoding = "br" | "gzip";

const [packBrotli, packGzip] = [promisify(brotliCompress), promisify(gzip)];

type Effort = {
  /** The first that the caller takes. */
  readonly order: readonly Encoding[];
  readonly quality: Readonly<Record<Encoding, number>>;
};

/** Of what is sent once: setting up Brotli alone costs more than gzip needs for a page, and saves a few percent. */
const once: Effort = { order: ["gzip", "br"], quality: { br: 1, gzip: 2 } };
const repeatedly: Effort = { order: ["br", "gzip"], quality: { br: 4, gzip: 6 } };

/** Bytes that are packed by one call of the library; by default four calls for a page. */
const chunkSize = 65_536;

function pack(body: Buffer, encoding: Encoding, quality: Effort["quality"]): Promise<Buffer> {
  if (encoding === "gzip") return packGzip(body, { level: quality.gzip, chunkSize });
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: quality.br,
    [constants.BROTLI_PARAM_SIZE_HINT]: body.byteLength,
  };
  return packBrotli(body, { params, chunkSize });
}

type CompressedBody = { readonly encoding: Encoding; readonly body: Buffer };

/** Smaller bodies are not compressed; the threshold of the `compression` middleware. */
const minBytes = 1_024;

const compressedBodies = new WeakMap<object, Map<Encoding, Promise<Buffer>>>();

type Compressible = {
  readonly type: string;
  readonly body: Buffer;
  readonly isFixed?: boolean | undefined;
};

/** Types that are compressed already. */
const isCompressed = (type: string): boolean => /^(image\/(?!svg)|video\/|audio\/)/.test(type);

/**
 * The compressed body of a document. What is sent more than once is compressed at most twice per encoding: of most
 * documents there is one request, and their compressed body is not stored. Undefined when the body is sent as it is.
 */
export async function compressedBodyFor(
  request: Request,
  document: Compressible,
): Promise<CompressedBody | undefined> {
  const known = compressedBodies.get(document) ?? new Map<Encoding, Promise<Buffer>>();
  const isFirst = !compressedBodies.has(document);
  compressedBodies.set(document, known);
  if (isCompressed(document.type)) return undefined;
  if (document.body.byteLength < minBytes || request.headers["accept-encoding"] === undefined)
    return undefined;
  const isStored = !isFirst || document.isFixed === true;
  const { order, quality } = isStored ? repeatedly : once;
  const chosen = order.find((one) => request.acceptsEncodings(one) === one);
  if (chosen === undefined) return undefined;
  const packing = known.get(chosen) ?? pack(document.body, chosen, quality);
  if (isStored) known.set(chosen, packing);
  return { encoding: chosen, body: await packing };
}

/** Marks a response as large and fixed: it is sent prepared or as it is, and never compressed for one caller. */
export function markPrepared(response: Response): void {
  response.locals.isPrepared = true;
}

/** Filter of the `compression` middleware, which would otherwise compress for encodings that are not prepared. */
export const skipPrepared: compression.CompressionFilter = (request, response) =>
  (response as Response).locals.isPrepared !== true && compression.filter(request, response);
