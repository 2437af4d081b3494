type Fetch = typeof globalThis.fetch;

/** By log: the last position that a POST was answered with. */
const writtenPositions = new Map<string, bigint>();

/**
 * A `fetch` for several callers of one log (a server and a chain), who read what any of them has written, as if they had
 * told each other: with `X-Min-Position`, unless a request names a later position itself.
 */
export function seeingWrites(log: string, fetch: Fetch = globalThis.fetch): Fetch {
  const written = () => writtenPositions.get(log) ?? 0n;
  return async (input, init) => {
    const headers = new Headers(init?.headers);
    if (written() > positionIn(headers.get("x-min-position"))) {
      headers.set("x-min-position", `${written()}`);
    }
    const response = await fetch(input, { ...init, headers });
    const position = positionIn(response.headers.get("x-position"));
    if (init?.method === "POST" && position > written()) writtenPositions.set(log, position);
    return response;
  };
}

const positionIn = (text: string | null): bigint => BigInt(text ?? 0);
