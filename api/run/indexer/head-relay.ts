import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, STATUS_CODES } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { WebSocket, WebSocketServer } from "ws";
import { announceHeads } from "./announce-heads.ts";

const handshakeMs = 2_000;

/**
 * A websocket in front of a chain's, which announces the newest block to Ponder more often than the chain does
 * (`announceHeads`). A connection is accepted once the chain has accepted its own, and ends with it: Ponder counts
 * refusals, and polls when there were too many. Returns its URL, on loopback with a secret path, since the chain's may
 * contain a key; it ends with `signal`.
 */
export async function openHeadRelay(wsUrl: string, signal: AbortSignal): Promise<string> {
  const path = `/${randomBytes(16).toString("hex")}`;
  const server = createServer((_request, response) => response.writeHead(404).end());
  const sockets = new WebSocketServer({ noServer: true });
  const opening = new Set<WebSocket>();
  const accept = (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    // Whoever asked may be gone before the chain has answered.
    socket.on("error", () => {});
    if (request.url !== path) return refuse(socket, 404);
    const chain = new WebSocket(wsUrl, { handshakeTimeout: handshakeMs });
    opening.add(chain);
    chain.once("close", () => opening.delete(chain));
    socket.once("close", () => chain.terminate());
    const onFailed = () => refuse(socket, 502);
    chain.once("error", onFailed);
    chain.once("open", () => {
      chain.on("error", () => {}).off("error", onFailed);
      sockets.handleUpgrade(request, socket, head, (ponder) => connect(ponder, chain));
    });
  };
  server.on("upgrade", accept);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const close = () => {
    server.close();
    for (const socket of [...sockets.clients, ...opening]) socket.terminate();
  };
  if (signal.aborted) close();
  else signal.addEventListener("abort", close, { once: true });
  return `ws://127.0.0.1:${port}${path}`;
}

function refuse(socket: Duplex, status: number): void {
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\n\r\n`);
}

function connect(ponder: WebSocket, chain: WebSocket): void {
  const heads = announceHeads({
    sendToSubscriber: (text) => ponder.readyState === WebSocket.OPEN && ponder.send(text),
    sendToChain: (text) => chain.readyState === WebSocket.OPEN && chain.send(text),
  });
  ponder.on("error", () => {});
  ponder.on("message", (data) => heads.receiveFromSubscriber(`${data}`));
  chain.on("message", (data) => heads.receiveFromChain(`${data}`));
  for (const [one, other] of [
    [ponder, chain],
    [chain, ponder],
  ] as const) {
    one.once("close", () => {
      heads.end();
      other.terminate();
    });
  }
}
