import { MarketError } from "../market-error.ts";
import { backOff, wait } from "../reading/wait.ts";
import { pollEvents } from "./poll-events.ts";
import { StreamUnavailable, streamEvents } from "./stream-events.ts";
import type { FeedSource, MarketEvent, Transport } from "./transport.ts";

export type FeedOptions = {
  /** `id` of an event, or `position` of a feed: goes on behind it. `0-0`: all there was. Default: what happens from now. */
  readonly after?: string;
  readonly types?: readonly MarketEvent["type"][];
  /** Contract of the NFTs. */
  readonly collection?: string;
  /** Either side. */
  readonly wallet?: string;
  /** `final`: only what the chain will not take back; no retractions. */
  readonly delivery?: "latest" | "final";
  /**
   * `auto` streams where it can, and polls where it cannot: without a key for streams, and for some minutes when the
   * server has none to spare.
   */
  readonly transport?: "auto" | "stream" | "poll";
  /** Between two polls when nothing is new; default: 2 s. */
  readonly pollMs?: number;
  /** Before the first reconnection; doubles with each failure. Default: 0.5 s. */
  readonly retryMs?: number;
  /** Silence after which a stream is taken for broken; the server sends something every 15 s. Default: 45 s. */
  readonly silenceMs?: number;
  /** Called when a connection failed, before the next is tried. */
  readonly onError?: (error: MarketError) => void;
  readonly signal?: AbortSignal;
};

/** Events in order, each once. A retraction is an event too. Breaking off a loop closes the connection. */
export type Feed = AsyncIterable<MarketEvent> & {
  /** `after` to go on behind everything that was handed out; undefined: not yet known. */
  readonly position: string | undefined;
};

const mostDelayMs = 30_000;
/** How long to poll before a stream is tried again. */
const streamAgainMs = 5 * 60_000;

export function openFeed(source: FeedSource, options: FeedOptions): Feed {
  const { transport = "auto", pollMs = 2_000, silenceMs = 45_000, retryMs = 500 } = options;
  let position = options.after;
  let open: Transport = transport === "poll" ? pollEvents : streamEvents;
  let streamAgainAt = Number.POSITIVE_INFINITY;
  let failures = 0;

  /** Returns when another transport is to go on; throws when the connection ends. */
  async function* connect(signal: AbortSignal): AsyncGenerator<MarketEvent> {
    const query = queryOf(source.chainId, options, position);
    for await (const progress of open(source, query, { pollMs, silenceMs, signal })) {
      failures = 0;
      // An event counts as handed out when the next one is asked for.
      if (progress.event !== undefined) yield progress.event;
      position = progress.position;
      if (open === pollEvents && Date.now() >= streamAgainAt) {
        open = streamEvents;
        return;
      }
    }
    throw new MarketError({ code: "network", message: "The server ended the stream" });
  }

  /** Waits until the next try; throws what does not pass by waiting. */
  async function recover(thrown: unknown, signal: AbortSignal): Promise<void> {
    const error = asError(thrown);
    if (error instanceof StreamUnavailable && transport === "auto") {
      open = pollEvents;
      streamAgainAt = error.passes ? Date.now() + streamAgainMs : Number.POSITIVE_INFINITY;
      return;
    }
    if (!isTemporary(error)) throw error;
    options.onError?.(error);
    const delayMs = backOff(failures, retryMs, mostDelayMs);
    failures += 1;
    await wait(Math.max(error.retryAfterMs ?? 0, delayMs), signal).catch(() => undefined);
  }

  async function* events(): AsyncGenerator<MarketEvent> {
    const leaving = new AbortController();
    const given = options.signal === undefined ? [] : [options.signal];
    const signal = AbortSignal.any([leaving.signal, ...given]);
    try {
      while (!signal.aborted) {
        try {
          yield* connect(signal);
        } catch (thrown) {
          if (!signal.aborted) await recover(thrown, signal);
        }
      }
    } finally {
      leaving.abort();
    }
  }
  return {
    get position() {
      return position;
    },
    [Symbol.asyncIterator]: events,
  };
}

function queryOf(chainId: number, options: FeedOptions, after: string | undefined) {
  const { types, collection, wallet, delivery } = options;
  return { chainId, after, type: types, collection, wallet, delivery };
}

function asError(thrown: unknown): MarketError {
  if (thrown instanceof MarketError) return thrown;
  return new MarketError({ code: "network", message: String(thrown), cause: thrown });
}

/** A refusal of the request itself does not pass by waiting. */
function isTemporary({ status }: MarketError): boolean {
  return status < 400 || status === 408 || status === 429 || status >= 500;
}
