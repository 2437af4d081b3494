import { type Dispatcher, request } from "undici";
import { NotPublic } from "./public-dns-lookup.ts";
import { whyRefused } from "./url-policy.ts";

/** What a document is fetched within. */
export type Limits = {
  /** For one address, redirects and body included. */
  timeoutMs: number;
  bytes: number;
  redirects: number;
};

export type Document = { mediaType: string; bytes: Uint8Array };

/**
 * Why there is no document. The cause is the document's own, or its host's, which would fail others as well: it is slow,
 * cannot be reached, or wants to be left alone, for `restMs` where it says so.
 */
export type Fault = {
  fault: string;
  cause: "document" | "slow" | "unreachable" | "busy";
  restMs?: number;
};

/** How an address is asked: `undefined` where it may not be. */
export type Route = (url: URL) => Dispatcher | undefined;

/** `GET` of a document that a stranger named. Every address it is redirected to is looked at like the first. */
export async function getDocument(
  url: URL,
  route: Route,
  limits: Limits,
  signal: AbortSignal,
): Promise<Document | Fault> {
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
): Promise<Document | Fault> {
  let url = first;
  for (let hops = 0; hops <= limits.redirects; hops++) {
    const dispatcher = route(url);
    if (dispatcher === undefined) return refused(whyRefused(url) ?? "the address is not asked");
    const response = await request(url.href, { dispatcher, signal, headers });
    const location = redirectOf(response);
    if (location === undefined) return await readAnswer(response, limits.bytes);
    close(response);
    if (!URL.canParse(location, url.href)) return refused("it redirects to what is no address");
    url = new URL(location, url);
  }
  return refused(`it redirects more than ${limits.redirects} times`);
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

async function readAnswer(response: Response, limit: number): Promise<Document | Fault> {
  const { statusCode, headers } = response;
  const mediaType = (header(headers["content-type"])?.split(";")[0] ?? "").trim().toLowerCase();
  const fault = faultOf(response, limit);
  if (fault !== null || statusCode !== 200 || isPicture(mediaType)) {
    close(response);
    return fault ?? { mediaType, bytes: new Uint8Array() };
  }
  const bytes = await readBounded(response, limit);
  return bytes === null ? refused(`it is larger than ${limit} bytes`) : { mediaType, bytes };
}

/** The address is the picture's own: it is known without its bytes. */
export const isPicture = (mediaType: string): boolean => mediaType.startsWith("image/");

const tryLater = new Set([429, 503]);

function faultOf({ statusCode, headers }: Response, limit: number): Fault | null {
  if (tryLater.has(statusCode)) {
    const seconds = Number(header(headers["retry-after"]));
    const asked = Number.isFinite(seconds) && seconds > 0 ? { restMs: seconds * 1_000 } : {};
    return { fault: `HTTP ${statusCode}`, cause: "busy", ...asked };
  }
  if (statusCode !== 200) return refused(`HTTP ${statusCode}`);
  const encoding = header(headers["content-encoding"]) ?? "identity";
  if (encoding !== "identity") return refused(`it is encoded as ${encoding.slice(0, 20)}`);
  if (Number(header(headers["content-length"])) > limit) {
    return refused(`it is larger than ${limit} bytes`);
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

/** Whatever is still to come is not read, be it without end. */
function close({ body }: Response): void {
  body.on("error", () => undefined).destroy();
}

function header(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}

const refused = (fault: string): Fault => ({ fault, cause: "document" });

/** Names of what `undici` and timers throw, and codes of the system: our own network may be what is down. */
const slow = new Set([
  "TimeoutError",
  "ConnectTimeoutError",
  "HeadersTimeoutError",
  "BodyTimeoutError",
]);
const ownTrouble = new Set(["EAI_AGAIN", "ENETUNREACH", "ENETDOWN", "EHOSTUNREACH", "EMFILE"]);

function causeOf(error: unknown): Fault["cause"] {
  if (!(error instanceof Error) || error instanceof NotPublic) return "document";
  if (slow.has(error.name)) return "slow";
  return ownTrouble.has((error as NodeJS.ErrnoException).code ?? "") ? "busy" : "unreachable";
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (slow.has(error.name)) return "it took too long";
  return (error.message || (error as NodeJS.ErrnoException).code || error.name).slice(0, 200);
}
