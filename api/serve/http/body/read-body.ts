import type { Readable } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import type { Request } from "express";
import { type Rejection, reject } from "#projections/domain/rejection.ts";

/** HTTP status of each code. */
export const bodyRefusals = { payload_too_large: 413, unsupported_media_type: 415 } as const;

export type BodyRejection = Rejection<keyof typeof bodyRefusals>;

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
export async function readBody(
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
