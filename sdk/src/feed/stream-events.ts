import { errorOf, MarketError } from "../market-error.ts";
import { queryOf } from "../reading/url.ts";
import { parseStream } from "./parse-stream.ts";
import type { Transport } from "./transport.ts";

/** The server has no stream for the caller, or none to spare; pages it may have. */
export class StreamUnavailable extends MarketError {
  /** Whether there may be one later. */
  get passes(): boolean {
    return passing.has(this.code);
  }
}

/** Refusals of a stream: too many are open, of the server or of the account. */
const passing: ReadonlySet<string> = new Set(["too_many_streams", "rate_limited"]);

/** Events as server-sent events by `fetch`, which sends the key that a browser's `EventSource` cannot. */
export const streamEvents: Transport = async function* (source, query, { silenceMs, signal }) {
  const silent = new AbortController();
  let timer = setTimeout(() => silent.abort(), silenceMs);
  const heard = () => {
    clearTimeout(timer);
    timer = setTimeout(() => silent.abort(), silenceMs);
  };
  try {
    const response = await source.fetch(`${source.url}/v1/events${queryOf(query)}`, {
      headers: { ...source.headers, Accept: "text/event-stream" },
      signal: AbortSignal.any([signal, silent.signal]),
    });
    const body = await bodyOf(response);
    for await (const { id, data } of parseStream(body, heard)) {
      if (data !== "") yield { event: JSON.parse(data), position: id };
      else if (id !== "") yield { position: id };
    }
  } catch (error) {
    if (!silent.signal.aborted) throw error;
    const message = `Nothing was received for ${silenceMs} ms`;
    throw new MarketError({ code: "network", message, cause: error });
  } finally {
    clearTimeout(timer);
    silent.abort();
  }
};

async function bodyOf(response: Response): Promise<ReadableStream<Uint8Array>> {
  if (!response.ok) {
    const error = await errorOf(response);
    const isOfStream = error.code === "insufficient_scope" || passing.has(error.code);
    throw isOfStream ? new StreamUnavailable(error) : error;
  }
  const type = response.headers.get("content-type") ?? "";
  if (type.startsWith("text/event-stream") && response.body !== null) return response.body;
  await response.body?.cancel();
  const message = `The server sends ${type || "nothing"} where a stream was expected`;
  throw new StreamUnavailable({ code: "unexpected_answer", message });
}
