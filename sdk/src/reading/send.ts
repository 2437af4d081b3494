import { errorOf, MarketError, parseObject } from "../market-error.ts";
import { backOff, wait } from "./wait.ts";

export type SendOptions = {
  readonly fetch: typeof globalThis.fetch;
  /** Tries in all, the first one included. */
  readonly tries: number;
  /** Before the second try; doubles with each. */
  readonly delayMs: number;
  /** For all tries together. */
  readonly timeoutMs: number;
};

/** What was answered, as text: who keeps it makes a new object of it each time. */
export type Answered = {
  readonly status: number;
  readonly etag: string | null;
  /** How far the data is that it was made from, or what a POST did. */
  readonly position: string | null;
  readonly text: string;
};

const mostDelayMs = 10_000;

/** Statuses that say nothing against the request itself. */
const passing = new Set([429, 502, 503, 504]);

/**
 * Sends a request until it is answered, until it is refused, or until the deadline. Throws `MarketError`, or the signal's
 * reason.
 */
export async function send(
  url: string,
  request: RequestInit,
  { fetch, tries, delayMs: firstDelayMs, timeoutMs }: SendOptions,
  given?: AbortSignal,
): Promise<Answered> {
  const timeout = AbortSignal.timeout(timeoutMs);
  const signal = given === undefined ? timeout : AbortSignal.any([given, timeout]);
  const deadline = Date.now() + timeoutMs;
  /** What is thrown instead of the abort that `fetch` or the wait reports. */
  const reasonOf = (thrown: unknown): unknown => {
    if (given?.aborted) return given.reason;
    return timeout.aborted ? timedOut(timeoutMs, thrown) : asMarketError(thrown);
  };
  for (let failures = 0; ; failures += 1) {
    try {
      return await sendOnce(fetch, url, { ...request, signal });
    } catch (thrown) {
      const error = reasonOf(thrown);
      const isLast =
        failures + 1 >= tries || !(error instanceof MarketError) || !isTemporary(error);
      if (isLast) throw error;
      const delayMs = error.retryAfterMs ?? backOff(failures, firstDelayMs, mostDelayMs);
      if (Date.now() + delayMs >= deadline) throw error;
      await wait(delayMs, signal).catch((reason) => {
        throw reasonOf(reason);
      });
    }
  }
}

async function sendOnce(
  fetch: typeof globalThis.fetch,
  url: string,
  request: RequestInit,
): Promise<Answered> {
  const response = await fetch(url, request);
  const { status } = response;
  const etag = response.headers.get("etag");
  const position = response.headers.get("x-position");
  if (status === 304) return { status, etag, position, text: "" };
  if (!response.ok) throw await errorOf(response);
  const text = await response.text();
  if (parseObject(text) === undefined) {
    const requestId = response.headers.get("x-request-id");
    const message = `HTTP ${status} whose body is no JSON: is ${new URL(url).origin} the API, or a proxy before it?`;
    throw new MarketError({ status, code: "unexpected_answer", message, requestId });
  }
  return { status, etag, position, text };
}

/** Half an answer is worth another try, as a broken connection is. */
function isTemporary({ status, code }: MarketError): boolean {
  return (
    code === "network" || passing.has(status) || (code === "unexpected_answer" && status < 400)
  );
}

function asMarketError(thrown: unknown): MarketError {
  if (thrown instanceof MarketError) return thrown;
  return new MarketError({ code: "network", message: messageOf(thrown), cause: thrown });
}

/** What `fetch` says of a connection is only that it failed; why is said by its cause. */
function messageOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  const { code, message } = Object(thrown.cause) as { code?: unknown; message?: unknown };
  const why = [message, code].filter((one) => typeof one === "string" && one !== "");
  return [thrown.message, ...new Set(why)].join(": ");
}

function timedOut(timeoutMs: number, cause: unknown): MarketError {
  return new MarketError({
    code: "timeout",
    message: `No answer within ${timeoutMs} ms: try again, or allow more by timeoutMs`,
    cause,
  });
}
