import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { localExchanges } from "#devnet/price-feed.ts";
import { type ExchangeName, exchangeNames, type PriceFeed } from "#jobs/prices/exchanges.ts";

type Mood =
  | "well"
  /** Answers nothing. */
  | "silent"
  | "broken"
  /** 200 with JSON that is not what is published. */
  | "confused"
  /** 200 with more than anyone reads. */
  | "endless"
  /** Sends elsewhere. */
  | "moved";

/** Exchanges of which a test says what they answer. Their history is the stand-in's. */
export type Exchanges = {
  feeds: PriceFeed[];
  /** What tickers tell, of each coin; the stand-in's price where none is said. */
  say(name: ExchangeName, price: string): void;
  mood(name: ExchangeName, mood: Mood): void;
  reset(): void;
  /** Paths asked for so far. */
  asked: string[];
  close(): Promise<void>;
};

const tickers: Record<ExchangeName, (price: string) => unknown> = {
  coinbase: (price) => ({ trade_id: 1, price, size: "1", time: "2026-03-10T00:00:00Z" }),
  kraken: (price) => ({ error: [], result: { XETHZUSD: { c: [price, "1"] } } }),
  binance: (price) => ({ symbol: "ETHUSDT", price }),
  okx: (price) => ({ code: "0", msg: "", data: [{ instId: "ETH-USDT", last: price }] }),
};

export async function openExchanges(now: () => number = Date.now): Promise<Exchanges> {
  const moods = new Map<ExchangeName, Mood>();
  const prices = new Map<ExchangeName, string>();
  const asked: string[] = [];
  const server = createServer((request, response) => {
    request.resume();
    const { pathname, searchParams: query } = new URL(request.url ?? "/", "http://localhost");
    asked.push(request.url ?? "");
    const [, first = "", path = ""] = /^\/(\w+)(\/.*)$/.exec(pathname) ?? [];
    const name = exchangeNames.find((known) => known === first);
    if (name === undefined || behave(moods.get(name) ?? "well", response)) return;
    const price = /ticker$/i.test(path.replace("/price", "")) ? prices.get(name) : undefined;
    const nowMs = now();
    const answer =
      price === undefined ? localExchanges[name]?.({ path, query, nowMs }) : tickers[name](price);
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    feeds: exchangeNames.map((name) => ({ name, url: `http://127.0.0.1:${port}/${name}` })),
    say: (name, price) => void prices.set(name, price),
    mood: (name, mood) => void moods.set(name, mood),
    reset() {
      moods.clear();
      prices.clear();
      asked.length = 0;
    },
    asked,
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

/** Whether the mood has dealt with the request. */
function behave(mood: Mood, response: ServerResponse): boolean {
  if (mood === "well") return false;
  if (mood === "broken") response.writeHead(503).end("{}");
  if (mood === "confused")
    response.writeHead(200).end(JSON.stringify({ price: { usd: 1 }, result: 7 }));
  if (mood === "moved") response.writeHead(302, { location: "http://127.0.0.1:9/" }).end();
  if (mood === "endless") response.writeHead(200).end(`"${"9".repeat(1_000_000)}"`);
  return true;
}
