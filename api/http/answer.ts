import type { Request, Response } from "express";
import type { Rejection } from "../../projections/domain/rejection.ts";
import { etagOf, matchesEtag } from "./etag.ts";
import { refund } from "./refund.ts";
import { requestIdOf } from "./request-id.ts";

type Text = { type: string; text: string; cacheControl: string };

/** A 200 with its ETag, or 304 when the caller has it already. */
export async function sendText(
  request: Request,
  response: Response,
  { type, text, cacheControl }: Text,
): Promise<void> {
  const etag = etagOf(text);
  response.set({ ETag: etag, "Cache-Control": cacheControl });
  if (matchesEtag(request.headers["if-none-match"], etag)) {
    await refund(response);
    response.status(304).end();
    return;
  }
  response.status(200);
  write(response, type, text);
}

export function sendJson(
  request: Request,
  response: Response,
  body: unknown,
  maxAgeSeconds?: number,
): Promise<void> {
  const cacheControl =
    maxAgeSeconds === undefined ? "no-cache" : `public, max-age=${maxAgeSeconds}`;
  return sendText(request, response, { type: json, text: JSON.stringify(body), cacheControl });
}

/** What was done: it is no document to keep, and no condition holds it back. */
export function sendResult(response: Response, status: number, body: unknown): void {
  response.status(status).set("Cache-Control", "no-store");
  write(response, json, JSON.stringify(body));
}

/** The error envelope. `extra` adds fields of its own beside the common ones. */
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
  write(response, json, JSON.stringify(body));
}

const json = "application/json; charset=utf-8";

function write(response: Response, type: string, text: string): void {
  response.set({ "Content-Type": type, "Content-Length": String(Buffer.byteLength(text)) });
  response.end(text);
}
