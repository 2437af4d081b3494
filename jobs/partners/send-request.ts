import { type Dispatcher, request } from "undici";
import type { z } from "zod";
import { parseJson } from "#projections/domain/json.ts";
import { isRejection, reject } from "#projections/domain/rejection.ts";
import type { PartnerListing } from "#projections/partners/partner-listing.ts";
import { retryAfterMs } from "../retry-after.ts";
import { orderParametersSchema, signedBytes, signedUint256 } from "./order-schema.ts";
import type { ListingPage, PartnerFailure, SkippedEntry } from "./partner.ts";

export type PartnerRequest = {
  method: "GET" | "POST";
  /** Relative to the partner's base URL. */
  path: string;
  query?: Readonly<Record<string, string>>;
  body?: unknown;
  /** Rate limit that the request counts against. `read`: data for many callers; `act`: on behalf of one caller. */
  budget: "read" | "act";
  /** Who asked for it, and may have a third of the budget; absent: ourselves. */
  caller?: string | undefined;
};

export type PartnerResponse = { status: number; body: unknown };

/** A response, or why there is none. */
export type RequestOutcome =
  | PartnerResponse
  | {
      fault: string;
      /** Whether the same request may succeed later. */
      isRetryable: boolean;
      /** Of the response; absent where none came that can be used. */
      status?: number;
      /** Set when rate limited: milliseconds from `Retry-After`, null without the header. */
      retryAfterMs?: number | null;
    };

type Connection = {
  base: string;
  headers: Readonly<Record<string, string>>;
  dispatcher: Dispatcher;
  timeoutMs: number;
};

const maxBytes = 16 * 1024 * 1024;

/** One request: no redirects, bounded in time and size. Never throws. */
export async function sendRequest(
  partnerRequest: PartnerRequest,
  connection: Connection,
): Promise<RequestOutcome> {
  const { method, path, query = {}, body } = partnerRequest;
  const search = new URLSearchParams(query).toString();
  try {
    const response = await request(
      `${connection.base}${path}${search === "" ? "" : `?${search}`}`,
      {
        method,
        dispatcher: connection.dispatcher,
        signal: AbortSignal.timeout(connection.timeoutMs),
        headers: { ...fixedHeaders, ...connection.headers },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      },
    );
    const fault = faultOf(response, method === "GET");
    if (fault === null) return await readBody(response);
    response.body.on("error", () => undefined).destroy();
    return fault;
  } catch (error) {
    // A POST may have been processed although no response arrived.
    return { fault: reasonOf(error), isRetryable: method === "GET" };
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
): RequestOutcome | null {
  const refused = { fault: `HTTP ${statusCode}`, status: statusCode };
  const restMs = retryAfterMs(headers["retry-after"]);
  if (statusCode === 429) return { ...refused, isRetryable: true, retryAfterMs: restMs };
  if (statusCode === 503 && restMs !== null)
    return { ...refused, isRetryable: true, retryAfterMs: restMs };
  if (statusCode >= 500) return { ...refused, isRetryable: isRead };
  if (statusCode === 401 || statusCode === 403) {
    return { ...refused, fault: `${refused.fault}, the key is refused`, isRetryable: false };
  }
  return statusCode < 200 || (statusCode >= 300 && statusCode < 400)
    ? { ...refused, isRetryable: false }
    : null;
}

async function readBody({ statusCode, body }: Dispatcher.ResponseData): Promise<RequestOutcome> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body as AsyncIterable<Uint8Array>) {
    size += chunk.byteLength;
    if (size > maxBytes) {
      return { fault: `the response exceeds ${maxBytes} bytes`, isRetryable: false };
    }
    chunks.push(chunk);
  }
  const text = Buffer.concat(chunks).toString("utf8");
  if (statusCode >= 400) return { status: statusCode, body: parseJsonOrNull(text) };
  // Partners write a maker's counter, of up to 256 bits, as a bare number.
  return { status: statusCode, body: parseJson(text, "integers") };
}

/** Error responses may come from a proxy, in any format. */
function parseJsonOrNull(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

const timeoutErrors = new Set([
  "TimeoutError",
  "ConnectTimeoutError",
  "HeadersTimeoutError",
  "BodyTimeoutError",
]);

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return "request failed";
  if (timeoutErrors.has(error.name)) return "timeout";
  if (error instanceof SyntaxError) return "response is not JSON";
  return (error as NodeJS.ErrnoException).code ?? error.name;
}

/** The parsed body; null for the statuses in `refusals`. A body that does not match the schema is a partner failure. */
export function parseResponse<Schema extends z.ZodType>(
  response: PartnerResponse | PartnerFailure,
  schema: Schema,
  refusals: readonly number[] = [404],
): z.output<Schema> | null | PartnerFailure {
  if (isRejection(response)) return response;
  if (refusals.includes(response.status)) return null;
  if (response.status >= 400) return reject("upstream_error", `HTTP ${response.status}`);
  const parsed = schema.safeParse(response.body);
  if (parsed.success) return parsed.data;
  // Also for buyers: in our words, not in those of the parser.
  const { path } = firstIssue(parsed.error);
  return reject("upstream_error", `Unexpected response: ${path} is not as documented`);
}

/** Parses entry by entry, so that an invalid one does not affect the others. */
export function parseEntries(
  entries: readonly unknown[],
  parseEntry: (entry: unknown) => PartnerListing | SkippedEntry,
): Pick<ListingPage, "listings" | "skipped"> {
  const listings: PartnerListing[] = [];
  const skipped: SkippedEntry[] = [];
  for (const entry of entries) {
    const parsed = parseEntry(entry);
    if ("reason" in parsed) skipped.push(parsed);
    else listings.push(parsed);
  }
  return { listings, skipped };
}

/** What a fulfillment contains: all signed fields but the counter. Partners write integers as decimal, hex or numbers. */
export const partnerOrderParameters = orderParametersSchema(signedUint256);

/** All signed fields. */
export const orderComponents = partnerOrderParameters.extend({ counter: signedUint256 });

/** A signature, or null: some partners write a missing one as `0x`. */
export const signatureOrNone = signedBytes
  .nullish()
  .transform((text) => (text === undefined || text === "0x" ? null : text));

/** Path of the first problem of an unparsable response. */
export function firstIssue({ issues: [issue] }: z.ZodError): { path: string } {
  return { path: issue?.path.map(String).join(".") || "(whole)" };
}
