import type { Request, RequestHandler, Response } from "express";
import type { Rejection } from "#projections/domain/rejection.ts";
import { compressedBodyFor, markPrepared } from "./compressed-body.ts";
import { etagOf, matchesEtag, namesVersion } from "./etag.ts";
import { jsonText } from "./json-text.ts";
import { refund } from "./rate-limit-state.ts";
import { setPosition } from "./reads/position.ts";
import { requestIdOf } from "./request-id.ts";

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

/** The error envelope. `extra` adds fields to the common ones. */
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
    ...extra,
  };
  response.status(status).set("Cache-Control", "no-store");
  write(response, json, Buffer.from(JSON.stringify(body)));
}

const json = "application/json; charset=utf-8";

function write(response: Response, type: string, body: Buffer): void {
  response.setHeader("Content-Type", type);
  response.setHeader("Content-Length", body.byteLength);
  response.end(body);
}
