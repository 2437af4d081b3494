import { Agent, type Dispatcher, request } from "undici";
import {
  publicLookup,
  type Resolve,
  resolveBySystem,
  urlRefusalReason,
} from "../public-address.ts";
import { retryAfterMs } from "../retry-after.ts";
import { signedHeaders, type WebhookMessage } from "./signature.ts";

/** One try of a delivery. `status` null: there was no answer, `failure` says why. */
export type Try = {
  readonly at: Date;
  readonly status: number | null;
  readonly failure: string | null;
  readonly durationMs: number;
  /** As the receiver asked for. */
  readonly retryAfterMs?: number;
};

export const isTaken = ({ status }: Pick<Try, "status">): boolean =>
  status !== null && status >= 200 && status < 300;

/** Whom a message is for. */
type Receiver = { readonly url: string; readonly secrets: readonly string[] };

export type Sender = {
  /** Rejects only when the signal is aborted: then the message may have been received. */
  send(receiver: Receiver, message: WebhookMessage, signal: AbortSignal): Promise<Try>;
  close(): Promise<void>;
};

export type SenderOptions = {
  /** Of one try, from the connection to the end of the answer. */
  readonly timeoutMs?: number;
  readonly resolve?: Resolve;
  /** Origins that may be sent to although they are not public. */
  readonly allowedOrigins?: readonly string[];
  readonly now?: () => Date;
};

const usualTimeoutMs = 15_000;
/** Of an answer: what it says is not read, only that it ends. */
const answerBytes = 16_384;

/** Why nothing is sent to a URL; null: it may be. Its host is looked up when something is sent. */
export function receiverRefusal(url: URL, allowedOrigins: readonly string[] = []): string | null {
  return allowedOrigins.includes(url.origin) ? null : urlRefusalReason(url);
}

/**
 * Sends messages to addresses that strangers gave: only to public ones, and where they are sent on to nobody is asked. Each
 * receiver has connections of its own when its host's others are busy.
 */
export function openSender({ timeoutMs = usualTimeoutMs, ...options }: SenderOptions = {}): Sender {
  const { resolve = resolveBySystem, allowedOrigins = [], now = () => new Date() } = options;
  const guarded = openAgent(timeoutMs, { lookup: publicLookup(resolve) });
  const trusted = openAgent(timeoutMs, {});

  async function send({ url, secrets }: Receiver, message: WebhookMessage, signal: AbortSignal) {
    const at = now();
    const startedAt = performance.now();
    const timed = (result: Omit<Try, "at" | "durationMs">): Try => {
      return { at, durationMs: Math.round(performance.now() - startedAt), ...result };
    };
    const parsed = new URL(url);
    const refusal = receiverRefusal(parsed, allowedOrigins);
    if (refusal !== null) return timed({ status: null, failure: refusal });
    const dispatcher = allowedOrigins.includes(parsed.origin) ? trusted : guarded;
    const headers = { ...commonHeaders, ...signedHeaders(message, secrets, at) };
    const deadline = openDeadline(timeoutMs, signal);
    try {
      const asked = { method: "POST", dispatcher, headers, body: message.body } as const;
      const response = await request(url, { ...asked, signal: deadline.signal });
      await endAnswer(response);
      return timed({ status: response.statusCode, failure: null, ...retryAfterOf(response) });
    } catch (error) {
      signal.throwIfAborted();
      return timed({ status: null, failure: reasonOf(error, deadline.signal.aborted) });
    } finally {
      deadline.end();
    }
  }
  return {
    send,
    async close() {
      await Promise.all([guarded.destroy(), trusted.destroy()]);
    },
  };
}

const commonHeaders = {
  "content-type": "application/json; charset=utf-8",
  "user-agent": "order-book-of-record",
};

function openAgent(timeoutMs: number, connect: { lookup?: ReturnType<typeof publicLookup> }) {
  return new Agent({
    connect: { ...connect, timeout: timeoutMs },
    keepAliveTimeout: 30_000,
    keepAliveMaxTimeout: 60_000,
    headersTimeout: 2 * timeoutMs,
    bodyTimeout: 2 * timeoutMs,
    maxHeaderSize: 16_384,
  });
}

/** Cheaper than `AbortSignal.any` of a timeout, which each of thousands a second would leave behind. */
function openDeadline(ms: number, signal: AbortSignal) {
  const ending = new AbortController();
  const end = () => ending.abort();
  const timer = setTimeout(end, ms);
  signal.addEventListener("abort", end, { once: true });
  if (signal.aborted) end();
  return {
    signal: ending.signal,
    end() {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
    },
  };
}

/** The status is the answer: a body that is long or breaks off changes nothing. */
async function endAnswer({ body }: Dispatcher.ResponseData): Promise<void> {
  body.on("error", () => undefined);
  await body.dump({ limit: answerBytes }).catch(() => undefined);
}

function retryAfterOf({ headers }: Dispatcher.ResponseData): { retryAfterMs?: number } {
  const ms = retryAfterMs(headers["retry-after"]);
  return ms === null ? {} : { retryAfterMs: ms };
}

const maxReasonLength = 200;

function reasonOf(error: unknown, isLate: boolean): string {
  if (isLate) return "timeout";
  if (!(error instanceof Error)) return String(error).slice(0, maxReasonLength);
  const { code } = error as NodeJS.ErrnoException;
  return (error.message || code || error.name).slice(0, maxReasonLength);
}
