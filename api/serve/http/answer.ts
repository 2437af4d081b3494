import type { Request, Response } from "express";
import type { Rejection } from "../../../projections/domain/rejection.ts";
import { compressedBodyFor } from "./compressed-body.ts";
import { etagOf, matchesEtag } from "./etag.ts";
import { refund } from "./rate-limit-state.ts";
import { requestIdOf } from "./request-id.ts";

/** The response to a GET, ready to be sent. */
export type Document = {
  readonly type: string;
  readonly body: Buffer;
  readonly etag: string;
  readonly cacheControl: string;
  /** Value of the `Link` header. */
  readonly link?: string | undefined;
  /** May change without a new fact, so it is not cached. */
  readonly isVolatile?: boolean;
};

/** 200 with an ETag, or 304 when `If-None-Match` matches. */
export async function sendDocument(
  request: Request,
  response: Response,
  document: Document,
): Promise<void> {
  const { type, body, etag, cacheControl, link } = document;
  if (link !== undefined) response.setHeader("Link", link);
  response.setHeader("ETag", etag);
  response.setHeader("Cache-Control", cacheControl);
  if (matchesEtag(request.headers["if-none-match"], etag)) {
    await refund(response);
    response.status(304).end();
    return;
  }
  const packed = await compressedBodyFor(request, document);
  if (packed !== undefined) response.setHeader("Content-Encoding", packed.encoding);
  response.status(200);
  write(response, type, packed?.body ?? body);
}

type Text = { type: string; text: string; cacheControl: string };

function textDocument({ type, text, cacheControl }: Text): Document {
  const body = Buffer.from(text);
  return { type, body, etag: etagOf(body), cacheControl };
}

export function sendText(request: Request, response: Response, text: Text): Promise<void> {
  return sendDocument(request, response, textDocument(text));
}

type DocumentOptions = Pick<Document, "link" | "isVolatile"> & {
  maxAgeSeconds?: number | undefined;
};

/** `maxAgeSeconds` becomes `Cache-Control: max-age`; without it, `no-cache`. */
export function jsonDocument(
  body: unknown,
  { maxAgeSeconds, ...options }: DocumentOptions,
): Document {
  const cacheControl =
    maxAgeSeconds === undefined ? "no-cache" : `public, max-age=${maxAgeSeconds}`;
  return { ...textDocument({ type: json, text: JSON.stringify(body), cacheControl }), ...options };
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
