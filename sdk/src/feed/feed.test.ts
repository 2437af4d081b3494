import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { market } from "../market.ts";
import type { FeedOptions } from "./feed.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const refuse = (status: number, code: string) => () =>
  Response.json({ code, message: code }, { status });
const streamed = (id: number) => () =>
  new Response(`id: ${id}\ndata: {"id":"${id}"}\n\n`, {
    headers: { "content-type": "text/event-stream" },
  });

/** A server of events `1`, `2`, … by pages; streams are opened as given, one after another, and then are silent. */
function openFeed(streams: (() => Response)[], options: FeedOptions = {}) {
  const requests: ("stream" | "poll")[] = [];
  let polled = 0;
  const fetch = async (_: unknown, init: RequestInit = {}): Promise<Response> => {
    if (new Headers(init.headers).get("accept") === "text/event-stream") {
      requests.push("stream");
      const open = streams.shift();
      return open === undefined ? new Promise(() => undefined) : open();
    }
    requests.push("poll");
    polled += 1;
    const [id, isNew] = [`${polled}`, polled <= 2];
    return Response.json({ data: isNew ? [{ id }] : [], meta: { next: id, has_more: false } });
  };
  const api = market({
    url: "http://api.test",
    chainId: 33139,
    fetch: fetch as typeof globalThis.fetch,
  });
  const errors: string[] = [];
  const onError = ({ code }: { code: string }) => void errors.push(code);
  const feed = api.feed({ onError, after: "0-0", ...options });
  const events: string[] = [];
  const ended = (async () => {
    for await (const { id } of feed) events.push(id);
  })().catch((error: { code: string }) => error.code);
  return { requests, errors, events, ended };
}

const minutes = (count: number) => vi.advanceTimersByTimeAsync(count * 60_000);
const seconds = (count: number) => vi.advanceTimersByTimeAsync(count * 1_000);

describe("a feed by whichever transport there is", () => {
  it("polls with a key that may not stream", async () => {
    const { requests, events, errors } = openFeed([refuse(403, "insufficient_scope")]);
    await minutes(20);
    expect(events).toEqual(["1", "2"]);
    expect(requests.filter((one) => one === "stream")).toHaveLength(1);
    expect(errors).toEqual([]);
  });

  it.each([
    [503, "too_many_streams"],
    [429, "rate_limited"],
  ])("polls after %i %s, and streams again some minutes later", async (status, code) => {
    const { requests, events } = openFeed([refuse(status, code), streamed(3)]);
    await minutes(1);
    expect(events).toEqual(["1", "2"]);
    expect(requests.lastIndexOf("stream")).toBe(0);
    await minutes(5);
    expect(events).toEqual(["1", "2", "3"]);
    expect(requests.at(-1)).toBe("stream");
  });

  it("streams again after another 503, as after any failure", async () => {
    const passing = [
      refuse(503, "database_unavailable"),
      () => new Response("<html>deploying</html>", { status: 503 }),
    ];
    const { requests, events, errors } = openFeed([...passing, streamed(1)]);
    await seconds(10);
    expect(errors.slice(0, 2)).toEqual(["database_unavailable", "unexpected_answer"]);
    expect(events).toEqual(["1"]);
    expect(requests).not.toContain("poll");
  });

  it("waits before the first reconnection no longer than `retryMs`", async () => {
    const { events } = openFeed([refuse(502, "upstream_error"), streamed(1)], { retryMs: 1_000 });
    await seconds(1);
    expect(events).toEqual(["1"]);
  });

  it("refuses with the API's code when only a stream will do", async () => {
    const { ended } = openFeed([refuse(403, "insufficient_scope")], { transport: "stream" });
    expect(await ended).toBe("insufficient_scope");
  });
});
