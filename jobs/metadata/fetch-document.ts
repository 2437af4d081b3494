import { promisify } from "node:util";
import * as zlib from "node:zlib";
import { type Dispatcher, request } from "undici";
import { NotPublicError, urlRefusalReason } from "../public-address.ts";
import { retryAfterMs } from "../retry-after.ts";

/** Limits of fetching a document. */
export type DocumentLimits = {
  /** One URL including redirects and body. */
  timeoutMs: number;
  bytes: number;
  redirects: number;
  /** Whether a picture is read, or only named by its type. */
  readsPictures: boolean;
};

/** `charset`: of its text, as its host says. */
export type FetchedDocument = { mediaType: string; charset?: string; bytes: Uint8Array };

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
export type DocumentRoute = (url: URL) => Dispatcher | undefined;

/** `GET` of an untrusted URL. Every redirect target is checked like the first URL. */
export async function fetchDocumentAt(
  url: URL,
  route: DocumentRoute,
  limits: DocumentLimits,
  signal: AbortSignal,
): Promise<FetchedDocument | DocumentFault> {
  const ending = AbortSignal.any([signal, AbortSignal.timeout(limits.timeoutMs)]);
  try {
    return await follow(url, route, limits, ending);
  } catch (error) {
    return { fault: reasonOf(error), cause: causeOf(error) };
  }
}

async function follow(
  first: URL,
  route: DocumentRoute,
  limits: DocumentLimits,
  signal: AbortSignal,
): Promise<FetchedDocument | DocumentFault> {
  let url = first;
  for (let hops = 0; hops <= limits.redirects; hops++) {
    const dispatcher = route(url);
    if (dispatcher === undefined)
      return documentFault(urlRefusalReason(url) ?? "the URL is not allowed");
    const response = await request(url.href, { dispatcher, signal, headers });
    const location = redirectOf(response);
    if (location === undefined) return await readAnswer(response, limits);
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

async function readAnswer(
  response: Response,
  { bytes: limit, readsPictures }: DocumentLimits,
): Promise<FetchedDocument | DocumentFault> {
  const { statusCode, headers } = response;
  const [type = "", ...parameters] = (header(headers["content-type"]) ?? "")
    .toLowerCase()
    .split(";");
  const mediaType = type.trim();
  const fault = faultOf(response, limit);
  if (fault !== null || statusCode !== 200 || (isPicture(mediaType) && !readsPictures)) {
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

/** An image that stands where a document should needs no download: its URL is the result. */
export const isPicture = (mediaType: string): boolean => mediaType.startsWith("image/");

const busyStatuses = new Set([429, 503]);

function faultOf({ statusCode, headers }: Response, limit: number): DocumentFault | null {
  if (busyStatuses.has(statusCode)) {
    const ms = retryAfterMs(headers["retry-after"]);
    return { fault: `HTTP ${statusCode}`, cause: "busy", ...(ms && { retryAfterMs: ms }) };
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

type Undo = (bytes: Uint8Array, options: { maxOutputLength: number }) => Promise<Uint8Array>;

const gunzip: Undo = promisify(zlib.gunzip);
const inflate: Undo = promisify(zlib.inflate);
const inflateRaw: Undo = promisify(zlib.inflateRaw);
const brotli: Undo = promisify(zlib.brotliDecompress);
/** From Node 22.15 on. */
const { zstdDecompress } = zlib as unknown as { zstdDecompress?: typeof zlib.brotliDecompress };

/** With the zlib header that the standard asks for, or as some send it without. */
const deflated: Undo = async (bytes, options) => {
  try {
    return await inflate(bytes, options);
  } catch (error) {
    if (isTooLong(error)) throw error;
    return await inflateRaw(bytes, options);
  }
};

const codings: ReadonlyMap<string, Undo> = new Map([
  ["gzip", gunzip],
  ["x-gzip", gunzip],
  ["deflate", deflated],
  ["br", brotli],
  ...(zstdDecompress === undefined ? [] : [["zstd", promisify(zstdDecompress) as Undo] as const]),
]);

/** A stranger's list may name any number of codings. */
const maxCodings = 4;
/** Files that were stored compressed and are sent compressed once more. */
const maxUnnamedGzips = 2;

/**
 * The bytes before their content codings (RFC 9110, 8.4), none of which may exceed `limit`, or a message why they cannot
 * be had. Words that are no coding are ignored, and so is a coding of what is plain text; gzip is also known by its first
 * bytes, and so is each coding where the named one cannot be undone.
 */
export async function undoCodings(
  bytes: Uint8Array,
  contentEncoding: string,
  limit: number,
): Promise<Uint8Array | string> {
  const names = contentEncoding
    .toLowerCase()
    .split(",")
    .map((name) => name.trim());
  const applied = names.filter((name) => codings.has(name)).reverse();
  if (applied.length > maxCodings) return `more than ${maxCodings} content codings`;
  let plain: Uint8Array | string = bytes;
  for (const name of applied) {
    if (typeof plain === "string" || isText(plain)) break;
    plain = await undoNamed(plain, name, limit);
  }
  for (let left = maxUnnamedGzips; typeof plain !== "string" && isGzip(plain) && left > 0; left--) {
    plain = await undoCoding(plain, "gzip", limit);
  }
  return plain;
}

async function undoCoding(
  bytes: Uint8Array,
  name: string,
  limit: number,
): Promise<Uint8Array | string> {
  try {
    return (await codings.get(name)?.(bytes, { maxOutputLength: limit })) ?? bytes;
  } catch (error) {
    if (isTooLong(error)) return tooLong(limit);
    return `content-encoding ${name} cannot be undone`;
  }
}

/** The same where the bytes may have another coding than the named one, or none: then their first ones say which. */
async function undoNamed(
  bytes: Uint8Array,
  name: string,
  limit: number,
): Promise<Uint8Array | string> {
  const plain = await undoCoding(bytes, name, limit);
  const isUndone = typeof plain === "string" ? plain === tooLong(limit) : plain.length > 0;
  if (isUndone) return plain;
  const [coding] = signatures.find(([, isCoded]) => isCoded(bytes)) ?? [];
  if (coding !== undefined && coding !== name) return await undoCoding(bytes, coding, limit);
  return coding === undefined && isDocumentText(bytes) ? bytes : plain;
}

const tooLong = (limit: number) => `larger than ${limit} bytes`;

const isTooLong = (error: unknown): boolean =>
  (error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE";

const isGzip = ([first, second, third]: Uint8Array): boolean =>
  first === 0x1f && second === 0x8b && third === 8;

/** Codings by their first bytes; of br there are none. */
const signatures: readonly (readonly [coding: string, isCoded: (bytes: Uint8Array) => boolean])[] =
  [
    ["gzip", isGzip],
    ["zstd", ([a, b, c, d]) => a === 0x28 && b === 0xb5 && c === 0x2f && d === 0xfd],
    ["deflate", ([a = 0, b = 0]) => (a & 0x8f) === 0x08 && (a * 256 + b) % 31 === 0],
  ];

/** Letters at the beginning, also of UTF-16, in which every other byte is zero. */
const firstLetters = (bytes: Uint8Array): string =>
  new TextDecoder().decode(bytes.subarray(0, 256).filter((byte) => byte !== 0 && byte < 0xfe));

/** Whether text begins as JSON or HTML does, after marks that people put before it. */
const isDocumentText = (bytes: Uint8Array): boolean =>
  /^[^\w{["<\ufffd]{0,16}[{["<]/.test(firstLetters(bytes));

/** Whether an answer is a page for people, as of a gateway that has closed, where JSON was asked for. */
export function isPage({ mediaType, bytes }: FetchedDocument): boolean {
  const [first = ""] = /[\w{["<\ufffd]/.exec(firstLetters(bytes)) ?? [];
  return first === "<" || (mediaType.startsWith("text/") && !["{", "[", '"'].includes(first));
}

/** Whether these are the first letters of JSON or HTML, which no coding leaves as they are. */
function isText(bytes: Uint8Array): boolean {
  return /^(?:\ufeff|\s)*(?:\{\s*["}]|\[\s*[{\]]|<[!?a-z])/i.test(
    new TextDecoder().decode(bytes.subarray(0, 256)),
  );
}
