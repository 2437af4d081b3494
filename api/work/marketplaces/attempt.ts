import { type Dispatcher, request } from "undici";
import { parseExactJson } from "./exact-json.ts";

export type Question = {
  method: "GET" | "POST";
  /** Below the partner's address. */
  path: string;
  query?: Readonly<Record<string, string>>;
  body?: unknown;
  /** `read`: data for many; `act`: for one caller, from a budget of its own. */
  budget: "read" | "act";
};

export type Answer = { status: number; body: unknown };

/** An answer, or why there is none. */
export type Attempt =
  | Answer
  | {
      fault: string;
      /** Whether the same request may be answered later. */
      again: boolean;
      /** The partner is asked too often. Milliseconds it wants to be left alone, null: it does not say. */
      restMs?: number | null;
    };

type Way = {
  base: string;
  headers: Readonly<Record<string, string>>;
  dispatcher: Dispatcher;
  timeoutMs: number;
};

const longestBytes = 16 * 1024 * 1024;

/** One request: no redirects, bounded in time and size. Nothing that comes back makes it throw. */
export async function attempt(question: Question, way: Way): Promise<Attempt> {
  const { method, path, query = {}, body } = question;
  const search = new URLSearchParams(query).toString();
  try {
    const response = await request(`${way.base}${path}${search === "" ? "" : `?${search}`}`, {
      method,
      dispatcher: way.dispatcher,
      signal: AbortSignal.timeout(way.timeoutMs),
      headers: { ...fixedHeaders, ...way.headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const fault = faultOf(response, method === "GET");
    if (fault === null) return await readAnswer(response);
    response.body.on("error", () => undefined).destroy();
    return fault;
  } catch (error) {
    // A request that changes something may have arrived: whether it did is not known.
    return { fault: reasonOf(error), again: method === "GET" };
  }
}

const fixedHeaders = {
  accept: "application/json",
  "content-type": "application/json",
  "accept-encoding": "identity",
  "user-agent": "order-book-of-record",
};

function faultOf(
  { statusCode, headers }: Dispatcher.ResponseData,
  isRead: boolean,
): Attempt | null {
  const fault = `HTTP ${statusCode}`;
  const restMs = retryAfterMs(headers["retry-after"]);
  if (statusCode === 429) return { fault, again: true, restMs };
  if (statusCode === 503 && restMs !== null) return { fault, again: true, restMs };
  if (statusCode >= 500) return { fault, again: isRead };
  if (statusCode === 401 || statusCode === 403) {
    return { fault: `${fault}, it does not take the key`, again: false };
  }
  return statusCode < 200 || (statusCode >= 300 && statusCode < 400)
    ? { fault, again: false }
    : null;
}

/** Seconds, or a date (RFC 9110, 10.2.3). Milliseconds; null: it is not said. */
function retryAfterMs(header: string | string[] | undefined): number | null {
  const text = Array.isArray(header) ? header[0] : header;
  if (text === undefined || text.trim() === "") return null;
  const seconds = Number(text);
  const ms = Number.isFinite(seconds) ? seconds * 1_000 : Date.parse(text) - Date.now();
  return Number.isFinite(ms) ? Math.max(0, ms) : null;
}

async function readAnswer({ statusCode, body }: Dispatcher.ResponseData): Promise<Attempt> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body as AsyncIterable<Uint8Array>) {
    size += chunk.byteLength;
    if (size > longestBytes) {
      return { fault: `it answers more than ${longestBytes} bytes`, again: false };
    }
    chunks.push(chunk);
  }
  const text = Buffer.concat(chunks).toString("utf8");
  if (statusCode >= 400) return { status: statusCode, body: parseLoosely(text) };
  return { status: statusCode, body: parseExactJson(text) };
}

/** Refusals may be answered by what stands before the partner, in its own form. */
function parseLoosely(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

const slow = new Set([
  "TimeoutError",
  "ConnectTimeoutError",
  "HeadersTimeoutError",
  "BodyTimeoutError",
]);

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return "it failed";
  if (slow.has(error.name)) return "it took too long";
  if (error instanceof SyntaxError) return "its answer is no JSON";
  return (error as NodeJS.ErrnoException).code ?? error.name;
}
