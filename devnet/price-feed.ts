import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { exchanges } from "./price-feed-exchanges.ts";

export type PriceFeed = {
  port: number;
  /** The exchanges with their addresses, in the form of the setting that names them. */
  urls: string;
  stop(): Promise<void>;
};

/** Stands in for exchanges: tickers and hourly history of prices that nobody paid. `port` 0 is any free one. */
export async function startPriceFeed({ port = 0, now = Date.now } = {}): Promise<PriceFeed> {
  const server = createServer((request, response) => {
    request.resume();
    const { pathname, searchParams: query } = new URL(request.url ?? "/", "http://localhost");
    const [, name = "", path = ""] = /^\/(\w+)(\/.*)$/.exec(pathname) ?? [];
    const exchange = Object.hasOwn(exchanges, name) ? exchanges[name] : undefined;
    const answer = exchange?.({ path, query, nowMs: now() });
    response.writeHead(answer === undefined ? 404 : 200, { "content-type": "application/json" });
    response.end(JSON.stringify(answer ?? { message: "NotFound" }));
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(port, "127.0.0.1", resolve);
  });
  const bound = (server.address() as AddressInfo).port;
  const names = Object.keys(exchanges);
  return {
    port: bound,
    urls: names.map((name) => `${name}=http://127.0.0.1:${bound}/${name}`).join(","),
    stop() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
