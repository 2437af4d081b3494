import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import compression from "compression";
import type { Request, RequestHandler, Response } from "express";
import type { Rejection } from "#projections/domain/rejection.ts";
import { setPosition } from "./reads/position.ts";
import { requestIdOf } from "./request.ts";

/** The response to a GET, ready to be sent. */
export type Document = {
  readonly type: string;
  readonly body: Buffer;
  readonly etag: string;
  readonly cacheControl: string;
  /** Value of the `Link` header. */
  readonly link?: string | undefined;
  /** Headers of its own. */
  readonly headers?: Readonly<Record<string, string>>;
  /** May change without a new fact, so it is not cached. */
  readonly isVolatile?: boolean;
  /** The same while the process runs. */
  readonly isFixed?: boolean;
  /** Others than the database were asked for it, so that it counts also where the caller has it. */
  readonly alwaysCounts?: boolean;
  /** Of the projections that it was made from. */
  readonly position?: bigint;
};

/** A document that is sent as it is instead of JSON. `type` must be safe as the Content-Type. */
export type Media = { readonly type: string; readonly bytes: Buffer };

/** 200 with an ETag, or 304 when `If-None-Match` matches. */
export async function sendDocument(
  request: Request,
  response: Response,
  document: Document,
): Promise<void> {
  const { type, body, etag, cacheControl, link, headers = {}, position } = document;
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  if (link !== undefined) response.setHeader("Link", link);
  if (position !== undefined) setPosition(response, position);
  response.setHeader("ETag", etag);
  response.setHeader("Cache-Control", cacheControl);
  response.vary("Accept-Encoding");
  const ifNoneMatch = request.headers["if-none-match"];
  if (matchesEtag(ifNoneMatch, etag)) {
    if (namesVersion(ifNoneMatch) && document.alwaysCounts !== true) await refund(response);
    response.status(304).end();
    return;
  }
  if (document.isFixed === true) markPrepared(response);
  const packed = await compressedBodyFor(request, document);
  if (packed !== undefined) response.setHeader("Content-Encoding", packed.encoding);
  response.status(200);
  write(response, type, packed?.body ?? body);
}

type Text = { type: string; text: string | Buffer; cacheControl: string };

export function textDocument({ type, text, cacheControl }: Text): Document {
  const body = typeof text === "string" ? Buffer.from(text) : text;
  return { type, body, etag: etagOf(body), cacheControl };
}

export function sendText(request: Request, response: Response, text: Text): Promise<void> {
  return sendDocument(request, response, textDocument(text));
}

/** Serves what never changes while the process runs: its ETag and compressed forms are made once. */
export function sendFixed(document: Document): RequestHandler {
  const fixed = { ...document, isFixed: true };
  return (request, response) => sendDocument(request, response, fixed);
}

type DocumentOptions = Pick<Document, "link" | "isVolatile" | "alwaysCounts"> & {
  maxAgeSeconds?: number | undefined;
  isPrivate?: boolean;
};

/** `maxAgeSeconds` becomes `Cache-Control: max-age`; without it, `no-cache`. */
export function jsonDocument(
  body: object,
  { maxAgeSeconds, isPrivate = false, ...options }: DocumentOptions,
): Document {
  const shared = maxAgeSeconds === undefined ? "no-cache" : `public, max-age=${maxAgeSeconds}`;
  const cacheControl = isPrivate ? "private, no-store" : shared;
  return { ...textDocument({ type: json, text: jsonText(body), cacheControl }), ...options };
}

/**
 * Somebody else's document: below our address it may run nothing, and load nothing but what it holds itself. Inline
 * styles are what images drawn on the chain are made of.
 */
export function mediaDocument({ type, bytes }: Media, maxAgeSeconds = 0): Document {
  const cacheControl = `public, max-age=${maxAgeSeconds}`;
  return {
    ...textDocument({ type, text: bytes, cacheControl }),
    headers: {
      "Content-Security-Policy":
        "default-src 'none'; img-src data:; font-src data:; style-src 'unsafe-inline'; frame-ancestors 'none'; sandbox",
      "X-Content-Type-Options": "nosniff",
    },
  };
}

/** The result of a POST: never cached, no conditional requests. */
export function sendResult(response: Response, status: number, body: unknown): void {
  response.status(status).set("Cache-Control", "no-store");
  write(response, json, Buffer.from(JSON.stringify(body)));
}

/** The error envelope, with the way to its explanation. `extra` adds fields to the common ones. */
const listingErrors = new WeakSet<Response>();

/** A refusal of the request also says its message in a list named `errors`, for callers who read nothing else. */
export function showErrorsAsList(response: Response): void {
  listingErrors.add(response);
}

const refusalCodes = new WeakMap<Response, string>();

/** The code by which a request was refused; undefined: it was not, or another API's error was sent. */
export const refusalCodeOf = (response: Response): string | undefined => refusalCodes.get(response);

export function sendRejection(
  response: Response,
  status: number,
  { rejected, message, details }: Rejection,
  extra: Record<string, unknown> = {},
): void {
  const body = {
    success: false,
    error: message,
    message,
    code: rejected,
    ...(details === undefined ? {} : { details }),
    requestId: requestIdOf(response),
    ...(listingErrors.has(response) && { errors: [message] }),
    ...extra,
  };
  refusalCodes.set(response, rejected);
  const link = `</docs/errors#${rejected}>; rel="help"`;
  response.status(status).set({ "Cache-Control": "no-store", Link: link });
  write(response, json, Buffer.from(JSON.stringify(body)));
}

const json = "application/json; charset=utf-8";

function write(response: Response, type: string, body: Buffer): void {
  response.setHeader("Content-Type", type);
  response.setHeader("Content-Length", body.byteLength);
  response.end(body);
}

/** JSON texts of objects that are sent more than once. */
const texts = new WeakMap<object, string>();

/** Makes the JSON text of an object once, for all bodies that it stands in; from now on it may not change. */
export function writeOnce(value: object): string {
  const text = texts.get(value) ?? JSON.stringify(Object.freeze(value));
  texts.set(value, text);
  return text;
}

/** `JSON.stringify` of a body, in whose lists rows with a text stand as it is. */
export function jsonText(body: object): string {
  const fields = Object.entries(body).flatMap(([name, value]) =>
    value === undefined ? [] : [`${JSON.stringify(name)}:${textOf(value)}`],
  );
  return `{${fields.join()}}`;
}

function textOf(value: unknown): string {
  if (!Array.isArray(value) || !value.some((row) => texts.has(row))) return JSON.stringify(value);
  return `[${value.map((row) => texts.get(row) ?? JSON.stringify(row) ?? "null").join()}]`;
}

/** Weak, because compression may change the bytes sent. */
function etagOf(body: Buffer): string {
  return `W/"${createHash("sha1").update(body).digest("base64url")}"`;
}

/** A caller who names no version has none, and costs what one without the header does. */
const namesVersion = (ifNoneMatch: string | undefined): boolean =>
  ifNoneMatch !== undefined && ifNoneMatch.trim() !== "*";

/** The weak comparison of RFC 9110 §13.1.2, whatever the request's Cache-Control says. */
function matchesEtag(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch.trim() === "*") return true;
  const opaque = (tag: string) => tag.trim().replace(/^W\//, "");
  return ifNoneMatch.split(",").some((tag) => opaque(tag) === opaque(etag));
}

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
async function compressedBodyFor(
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
function markPrepared(response: Response): void {
  response.locals.isPrepared = true;
}

/** Filter of the `compression` middleware, which would otherwise compress for encodings that are not prepared. */
export const skipPrepared: compression.CompressionFilter = (request, response) =>
  (response as Response).locals.isPrepared !== true && compression.filter(request, response);

/** A caller's limit and what is left of it. */
export type RateLimitState = {
  /** Requests per minute. */
  readonly limit: number;
  readonly remaining: number;
  /** When the limit resets: unix seconds, and seconds from now. */
  readonly resetAt: number;
  readonly resetSeconds: number;
};

/** Returns a request to its caller's limit. Never throws; null where nothing was counted. */
export type Refund = () => Promise<RateLimitState | null>;

const refunds = new WeakMap<Response, Refund>();

/** Also as draft-ietf-httpapi-ratelimit-headers-11 writes them. */
export function setRateLimitHeaders(response: Response, rateLimit: RateLimitState | null): void {
  if (rateLimit === null) return;
  response.set({
    "X-RateLimit-Limit": String(rateLimit.limit),
    "X-RateLimit-Remaining": String(rateLimit.remaining),
    "X-RateLimit-Reset": String(rateLimit.resetAt),
    "RateLimit-Policy": `"minute";q=${rateLimit.limit};w=60`,
    RateLimit: `"minute";r=${rateLimit.remaining};t=${rateLimit.resetSeconds}`,
  });
}

export function registerRefund(response: Response, refund: Refund): void {
  refunds.set(response, refund);
}

/** A 304 does not count. Requests that were not counted have no refund. */
async function refund(response: Response): Promise<void> {
  const giveBack = refunds.get(response);
  if (giveBack !== undefined) setRateLimitHeaders(response, await giveBack());
}
