const timeoutMs = 5_000;
const longestBytes = 256 * 1024;

/** An exchange that could not be asked, or whose answer is not what it publishes. */
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
    if (size > longestBytes) throw new FeedFailure(`the answer exceeds ${longestBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** fetch() hides the cause of a failed connection one level down. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message} (${error.cause.message})` : error.message;
}
