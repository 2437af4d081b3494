import { type Dispatcher, request } from "undici";
import { undoCodings } from "./content-codings.ts";
import { NotPublicError } from "./public-dns-lookup.ts";
import { urlRefusalReason } from "./url-policy.ts";

/** Limits of fetching a document. */
export type Limits = {
  /** One URL including redirects and body. */
  timeoutMs: number;
  bytes: number;
  redirects: number;
};

/** `charset`: of its text, as its host says. */
export type Document = { mediaType: string; charset?: string; bytes: Uint8Array };

/**
 * Why there is no document. `document`: its own fault. The others are the host's and would affect further requests;
 * `retryAfterMs` from the host's `Retry-After`.
 */
export type DocumentFault = {
  fault: string;
  cause: "document" | "slow" | "unreachable" | "busy";
  retryAfterMs?: number;
};

/** Chooses the dispatcher for a URL; undefined: the URL is not allowed. */
export type Route = (url: URL) => Dispatcher | undefined;

/** `GET` of an untrusted URL. Every redirect target is checked like the first URL. */
export async function fetchDocumentAt(
  url: URL,
  route: Route,
  limits: Limits,
  signal: AbortSignal,
): Promise<Document | DocumentFault> {
  const ending = AbortSignal.any([signal, AbortSignal.timeout(limits.timeoutMs)]);
  try {
    return await follow(url, route, limits, ending);
  } catch (error) {
    return { fault: reasonOf(error), cause: causeOf(error) };
  }
}

async function follow(
  first: URL,
  route: Route,
  limits: Limits,
  signal: AbortSignal,
): Promise<Document | DocumentFault> {
  let url = first;
  for (let hops = 0; hops <= limits.redirects; hops++) {
    const dispatcher = route(url);
    if (dispatcher === undefined)
      return documentFault(urlRefusalReason(url) ?? "the URL is not allowed");
    const response = await request(url.href, { dispatcher, signal, headers });
    const location = redirectOf(response);
    if (location === undefined) return await readAnswer(response, limits.bytes);
    close(response);
    if (!URL.canParse(location, url.href)) return documentFault("redirect to an invalid URL");
    url = new URL(location, url);
  }
  return documentFault(`more than ${limits.redirects} redirects`);
}

const headers = {
  accept: "application/json, */*;q=0.5",
  "accept-encoding": "identity",
  "user-agent": "order-book-of-record",
};

type Response = Dispatcher.ResponseData;

function redirectOf({ statusCode, headers }: Response): string | undefined {
  return statusCode >= 300 && statusCode < 400 ? header(headers.location) : undefined;
}

async function readAnswer(response: Response, limit: number): Promise<Document | DocumentFault> {
  const { statusCode, headers } = response;
  const [type = "", ...parameters] = (header(headers["content-type"]) ?? "")
    .toLowerCase()
    .split(";");
  const mediaType = type.trim();
  const fault = faultOf(response, limit);
  if (fault !== null || statusCode !== 200 || isPicture(mediaType)) {
    close(response);
    return fault ?? { mediaType, bytes: new Uint8Array() };
  }
  const coded = await readBounded(response, limit);
  if (coded === null) return documentFault(`larger than ${limit} bytes`);
  const bytes = await undoCodings(coded, [headers["content-encoding"]].flat().join(), limit);
  if (typeof bytes === "string") return documentFault(bytes);
  const charset = charsetIn(parameters);
  return { mediaType, ...(charset && { charset }), bytes };
}

const charsetIn = (parameters: readonly string[]): string | undefined =>
  parameters.map((one) => /^\s*charset\s*=\s*(\S+)/.exec(one)?.[1]).find(Boolean);

/** An image needs no download: its URL is the result. */
export const isPicture = (mediaType: string): boolean => mediaType.startsWith("image/");

const busyStatuses = new Set([429, 503]);

function faultOf({ statusCode, headers }: Response, limit: number): DocumentFault | null {
  if (busyStatuses.has(statusCode)) {
    const seconds = Number(header(headers["retry-after"]));
    const retryAfter =
      Number.isFinite(seconds) && seconds > 0 ? { retryAfterMs: seconds * 1_000 } : {};
    return { fault: `HTTP ${statusCode}`, cause: "busy", ...retryAfter };
  }
  if (statusCode !== 200) return documentFault(`HTTP ${statusCode}`);
  if (Number(header(headers["content-length"])) > limit) {
    return documentFault(`larger than ${limit} bytes`);
  }
  return null;
}

async function readBounded(response: Response, limit: number): Promise<Uint8Array | null> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
    size += chunk.byteLength;
    if (size > limit) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Aborts the rest of the body. */
function close({ body }: Response): void {
  body.on("error", () => undefined).destroy();
}

function header(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}

const documentFault = (fault: string): DocumentFault => ({ fault, cause: "document" });

/** Error names of `undici` and timers, and system error codes that point to the local network. */
const timeoutErrors = new Set([
  "TimeoutError",
  "ConnectTimeoutError",
  "HeadersTimeoutError",
  "BodyTimeoutError",
]);
const localNetworkErrors = new Set([
  "EAI_AGAIN",
  "ENETUNREACH",
  "ENETDOWN",
  "EHOSTUNREACH",
  "EMFILE",
]);

function causeOf(error: unknown): DocumentFault["cause"] {
  if (!(error instanceof Error) || error instanceof NotPublicError) return "document";
  if (timeoutErrors.has(error.name)) return "slow";
  return localNetworkErrors.has((error as NodeJS.ErrnoException).code ?? "")
    ? "busy"
    : "unreachable";
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (timeoutErrors.has(error.name)) return "timeout";
  return (error.message || (error as NodeJS.ErrnoException).code || error.name).slice(0, 200);
}
