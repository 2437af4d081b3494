import { randomUUID } from "node:crypto";
import { createServer, type Server, STATUS_CODES } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { Express } from "express";

export type Listening = {
  readonly port: number;
  /** Stops accepting, lets answers under way end, then cuts what is left. */
  readonly close: () => Promise<void>;
};

/** Milliseconds that answers under way are given when the server closes. */
const closingMs = 4000;

export async function listen(app: Express, host: string, port: number): Promise<Listening> {
  const server = createServer(app);
  server.headersTimeout = 10_000;
  server.requestTimeout = 30_000;
  server.keepAliveTimeout = 65_000;
  server.on("clientError", (error: NodeJS.ErrnoException, socket: Socket) => {
    if (socket.writable) socket.end(unreadable(error.code === "HPE_HEADER_OVERFLOW" ? 431 : 400));
    else socket.destroy();
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      resolve();
    });
  });
  return { port: (server.address() as AddressInfo).port, close: () => close(server) };
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    const cut = setTimeout(() => server.closeAllConnections(), closingMs);
    server.close(() => {
      clearTimeout(cut);
      resolve();
    });
    server.closeIdleConnections();
  });
}

/** What is not HTTP never reaches the app; it is answered in the same envelope. */
function unreadable(status: 400 | 431): string {
  const message =
    status === 431 ? "The headers are too large" : "The request is not well-formed HTTP";
  const code = status === 431 ? "headers_too_large" : "bad_request";
  const requestId = randomUUID();
  const body = JSON.stringify({ success: false, error: message, message, code, requestId });
  return [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    "Content-Type: application/json; charset=utf-8",
    `Content-Length: ${Buffer.byteLength(body)}`,
    "Cache-Control: no-store",
    "Access-Control-Allow-Origin: *",
    `X-Request-Id: ${requestId}`,
    "Connection: close",
    "",
    body,
  ].join("\r\n");
}
