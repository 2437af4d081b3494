import type { ErrorCode } from "./document.ts";

/** What the client itself finds wrong, beside the API's codes. */
export type ClientCode =
  /** No connection, or it broke. */
  | "network"
  /** The deadline of the call passed. */
  | "timeout"
  /** The answer is no answer of the API: HTML of a proxy, nothing, half of it. */
  | "unexpected_answer";

/** One field of a request that is not as it must be. */
export type ErrorDetail = {
  readonly field: string;
  readonly message: string;
  readonly expected?: string;
  readonly actual?: string;
};

type Given = {
  readonly status?: number;
  readonly code: ErrorCode | ClientCode;
  readonly message: string;
  readonly details?: readonly ErrorDetail[];
  readonly requestId?: string | null;
  readonly retryAfterMs?: number | null;
  readonly cause?: unknown;
};

/** Whatever went wrong with a request. `code` tells what, `details` where. */
export class MarketError extends Error {
  override readonly name = "MarketError";
  /** HTTP status; 0 where there was no answer. */
  readonly status: number;
  readonly code: ErrorCode | ClientCode;
  readonly details: readonly ErrorDetail[];
  /** Names the request in the service's logs. */
  readonly requestId: string | null;
  /** Milliseconds after which the same request may succeed; null: not said. */
  readonly retryAfterMs: number | null;

  constructor({ status = 0, code, message, details = [], ...more }: Given) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause });
    this.status = status;
    this.code = code;
    this.details = details;
    this.requestId = more.requestId ?? null;
    this.retryAfterMs = more.retryAfterMs ?? null;
  }
}

/** The error that a refusing answer states. */
export async function errorOf(response: Response): Promise<MarketError> {
  const text = await response.text().catch(() => "");
  const { status } = response;
  const requestId = response.headers.get("x-request-id");
  const retryAfterMs = parseRetryAfter(response.headers.get("retry-after"));
  const body = parseObject(text);
  if (typeof body?.code !== "string") {
    const message = `HTTP ${status} without a body of the API: something before it answered`;
    return new MarketError({ status, code: "unexpected_answer", message, requestId, retryAfterMs });
  }
  return new MarketError({
    status,
    code: body.code as ErrorCode,
    message: String(body.message ?? body.error ?? body.code),
    details: Array.isArray(body.details) ? body.details : [],
    requestId: requestId ?? (typeof body.requestId === "string" ? body.requestId : null),
    retryAfterMs,
  });
}

export function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}

/** Seconds or an HTTP date. */
function parseRetryAfter(text: string | null): number | null {
  if (text === null || text === "") return null;
  const ms = /^\d+$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - Date.now();
  return Number.isNaN(ms) ? null : Math.max(0, ms);
}
