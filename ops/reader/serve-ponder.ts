import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { type WebSocket, WebSocketServer } from "ws";
import type { LogsFilter, RpcBlock } from "./block-proof.ts";
import type { ChainReader } from "./chain-reader.ts";
import { openIndexedLogs } from "./indexed-logs.ts";

/** Addresses of the reader for a client in another process, on loopback with a secret path. */
type ReaderAddress = { rpcUrl: string; wsUrl: string };

export type ServedReader = {
  /** For a client that indexes logs of these filters. */
  addressFor(indexed: readonly LogsFilter[]): ReaderAddress;
};

/** Ponder gives up a request after 10 s. What is not answered by then goes on, for when it asks again. */
const answerWithinMs = 9_000;
/** Ponder takes 50 blocks for an announcement, and forgets one that it could not follow: each is repeated. */
const repeat = { firstMs: 250, firstTimes: 20, laterMs: 2_000 };

type Request = { id?: unknown; method?: string; params?: unknown[] };
type Answer = (request: Request) => Promise<object>;

/** Serves a chain as the reader sees it by JSON-RPC over HTTP, and its heads by websocket, until the signal. */
export async function serveReader(reader: ChainReader, signal: AbortSignal): Promise<ServedReader> {
  const clients = new Map<string, Answer>();
  const server = createServer((request, response) => {
    void answerHttp(clients, request, response).catch(() => response.destroy());
  });
  const sockets = new WebSocketServer({ noServer: true });
  server.on("upgrade", (request, socket, head) => {
    socket.on("error", () => {});
    if (!clients.has(request.url ?? "")) socket.destroy();
    else sockets.handleUpgrade(request, socket, head, (client) => announceTo(client, reader));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const close = () => {
    server.close();
    server.closeAllConnections();
    for (const client of sockets.clients) client.terminate();
  };
  if (signal.aborted) close();
  else signal.addEventListener("abort", close, { once: true });
  const { port } = server.address() as AddressInfo;
  return {
    addressFor(indexed) {
      const path = `/${randomBytes(16).toString("hex")}`;
      clients.set(path, openAnswers(reader, openIndexedLogs(reader.logs, indexed)));
      const place = `127.0.0.1:${port}${path}`;
      return { rpcUrl: `http://${place}`, wsUrl: `ws://${place}` };
    },
  };
}

async function answerHttp(
  clients: ReadonlyMap<string, Answer>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const answer = clients.get(request.url ?? "");
  if (answer === undefined) return void response.writeHead(404).end();
  const body: Request | Request[] = JSON.parse(`${await buffer(request)}`);
  const answers = Array.isArray(body) ? await Promise.all(body.map(answer)) : await answer(body);
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answers));
}

/** Answers each request in time; the same one asked twice is one reading. */
function openAnswers(reader: ChainReader, logs: ChainReader["logs"]): Answer {
  const readings = new Map<string, Promise<object>>();
  return async ({ id = null, method = "", params = [] }) => {
    const key = JSON.stringify([method, params]);
    let reading = readings.get(key);
    if (reading === undefined) {
      reading = reader.request(method, params, logs).then(
        (result) => ({ result }),
        (error: Error) => ({ error: { code: -32_000, message: error.message } }),
      );
      readings.set(key, reading);
      void reading.then(() => readings.delete(key));
    }
    return { jsonrpc: "2.0", id, ...(await Promise.race([reading, lateAnswer(method)])) };
  };
}

async function lateAnswer(method: string): Promise<object> {
  await new Promise((resolve) => setTimeout(resolve, answerWithinMs).unref());
  return { error: { code: -32_000, message: `${method} is still read from the chain's nodes` } };
}

/** Tells a subscriber to new blocks the newest one, and each again until it must have it. */
function announceTo(client: WebSocket, reader: ChainReader): void {
  const subscription = `0x${randomBytes(16).toString("hex")}`;
  let timer: NodeJS.Timeout | undefined;
  let stop = () => {};
  const send = (message: object) =>
    client.readyState === client.OPEN &&
    client.send(JSON.stringify({ jsonrpc: "2.0", ...message }));
  const announce = (head: RpcBlock, times = 0) => {
    clearTimeout(timer);
    const result = { ...head, transactions: undefined };
    send({ method: "eth_subscription", params: { subscription, result } });
    const nextMs = times < repeat.firstTimes ? repeat.firstMs : repeat.laterMs;
    timer = setTimeout(() => announce(head, times + 1), nextMs);
  };
  client.on("error", () => {});
  client.on("message", (data) => {
    const { id, method } = JSON.parse(`${data}`) as Request;
    if (method !== "eth_subscribe") return send({ id, result: true });
    send({ id, result: subscription });
    stop();
    stop = reader.heads.listen((head) => announce(head));
    const head = reader.heads.head();
    if (head !== null) announce(head);
  });
  client.once("close", () => {
    clearTimeout(timer);
    stop();
  });
}
