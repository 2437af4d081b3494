const timeoutMs = 5_000;
const maxBytes = 256 * 1024;

/** A failed request to an exchange, or an unexpected response. */
class FeedFailure extends Error {
  override name = "FeedFailure";
}

/** `GET` of a small JSON document: one try, no redirects, bounded in time and size. Throws `FeedFailure`. */
export async function fetchJson(url: string, signal: AbortSignal): Promise<unknown> {
  try {
    const response = await fetch(url, {
      redirect: "error",
      headers: { accept: "application/json", "user-agent": "order-book-of-record" },
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    });
    if (!response.ok) {
      await response.body?.cancel();
      throw new FeedFailure(`HTTP ${response.status}`);
    }
    return JSON.parse(await readBounded(response));
  } catch (error) {
    throw error instanceof FeedFailure ? error : new FeedFailure(reasonOf(error));
  }
}

async function readBounded(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength;
    if (size > maxBytes) throw new FeedFailure(`the response exceeds ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** fetch() wraps the cause of a failed connection. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message} (${error.cause.message})` : error.message;
}
