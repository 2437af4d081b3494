import { randomUUID } from "node:crypto";
import { createServer, type Server, type ServerOptions, STATUS_CODES } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { Express } from "express";

export type Listening = {
  readonly port: number;
  /** Stops accepting, lets answers under way end, then cuts what is left. */
  readonly close: () => Promise<void>;
};

/** Milliseconds that answers under way are given when the server closes. */
const closingMs = 4000;

/** Milliseconds that a client has: a slow one holds a connection, and no more than that. */
export type Patience = {
  /** For its headers, and for all of its request. */
  readonly headersMs: number;
  readonly requestMs: number;
  /** Between two looks at who is late. */
  readonly checkMs: number;
  /** Without taking or sending a byte. */
  readonly silentMs: number;
};

const patience: Patience = {
  headersMs: 10_000,
  requestMs: 30_000,
  checkMs: 5_000,
  silentMs: 120_000,
};

/** Longer than a proxy's, so that it is never the one to find a connection closed. */
const keepAliveMs = 65_000;
const mostHeaders = 100;
const mostHeaderBytes = 16_384;

export async function listen(
  app: Express,
  host: string,
  port: number,
  given: Patience = patience,
): Promise<Listening> {
  const server = createServer(optionsOf(given), app);
  server.maxHeadersCount = mostHeaders;
  server.timeout = given.silentMs;
  server.on("clientError", (error: NodeJS.ErrnoException, socket: Socket) => {
    if (socket.writable) socket.end(unreadable(error.code));
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

function optionsOf({ headersMs, requestMs, checkMs }: Patience): ServerOptions {
  return {
    headersTimeout: headersMs,
    requestTimeout: requestMs,
    connectionsCheckingInterval: checkMs,
    keepAliveTimeout: keepAliveMs,
    maxHeaderSize: mostHeaderBytes,
  };
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

type Fault = { status: 400 | 408 | 431; code: string; message: string };

const malformed: Fault = {
  status: 400,
  code: "bad_request",
  message: "The request is not well-formed HTTP",
};

const faults: Record<string, Fault> = {
  HPE_HEADER_OVERFLOW: {
    status: 431,
    code: "headers_too_large",
    message: "The headers are too large",
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: 408,
    code: "request_timeout",
    message: "The request did not come within its time",
  },
};

/** What is not HTTP never reaches the app; it is answered in the same envelope. */
function unreadable(cause: string | undefined): string {
  const { status, code, message } = (cause && faults[cause]) || malformed;
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
