import { randomUUID } from "node:crypto";
import {
  createServer,
  IncomingMessage,
  type RequestListener,
  type Server,
  type ServerOptions,
  ServerResponse,
  STATUS_CODES,
} from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { Express } from "express";

export type Listening = {
  readonly port: number;
  /** Stops accepting connections, lets responses in progress finish, then closes what is left. */
  readonly close: () => Promise<void>;
};

/** Milliseconds for responses in progress to finish when the server closes. */
const closingMs = 4000;
/** How often connections whose response has ended are closed meanwhile. */
const idleCheckMs = 50;

/** Limits for slow clients, in milliseconds. */
type ServerTimeouts = {
  /** To send the headers, and the whole request. */
  readonly headersMs: number;
  readonly requestMs: number;
  /** Interval of the check for late clients. */
  readonly checkMs: number;
  /** Without a byte in either direction. */
  readonly idleMs: number;
};

const defaultTimeouts: ServerTimeouts = {
  headersMs: 10_000,
  requestMs: 30_000,
  checkMs: 5_000,
  idleMs: 120_000,
};

/** Longer than a proxy's, so that the proxy closes idle connections first. */
const keepAliveMs = 65_000;
const maxHeaders = 100;
const maxHeaderBytes = 16_384;

export async function listen(
  app: Express,
  host: string,
  port: number,
  given: ServerTimeouts = defaultTimeouts,
): Promise<Listening> {
  const server = createServer({ ...optionsOf(given), ...expressClasses(app) }, inOriginForm(app));
  server.maxHeadersCount = maxHeaders;
  server.timeout = given.idleMs;
  server.on("clientError", (error: NodeJS.ErrnoException, socket: Socket) => {
    if (socket.writable) socket.end(rawErrorResponse(error.code));
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

/**
 * A request line may name a whole address (`GET http://…/v1`): its path alone is what is asked for, also in links, cache
 * keys and logs. Express must not see it: its router would cut the host out of the path once more.
 */
const inOriginForm =
  (app: Express): RequestListener =>
  (request, response) => {
    const { url = "/" } = request;
    const path = url.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, "");
    request.url = path === url || path.startsWith("/") ? path : `/${path}`;
    app(request, response);
  };

function optionsOf({ headersMs, requestMs, checkMs }: ServerTimeouts): ServerOptions {
  return {
    headersTimeout: headersMs,
    requestTimeout: requestMs,
    connectionsCheckingInterval: checkMs,
    keepAliveTimeout: keepAliveMs,
    maxHeaderSize: maxHeaderBytes,
  };
}

/** A connection in use gets `Connection: close` with its next response, or is closed after the one in progress. */
function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    const cut = setTimeout(() => server.closeAllConnections(), closingMs);
    const idle = setInterval(() => server.closeIdleConnections(), idleCheckMs);
    server.prependListener("request", (_request, response) => {
      response.setHeader("Connection", "close");
    });
    server.close(() => {
      clearTimeout(cut);
      clearInterval(idle);
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
    message: "The request took too long to arrive",
  },
};

/** The error envelope for requests that Node cannot parse: they never reach Express. */
function rawErrorResponse(cause: string | undefined): string {
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

/**
 * Makes a server's requests and responses with the prototypes that Express would set on each of them. Setting it later
 * costs V8 a hidden class for every request, and each of these keeps its request with all that hangs on it until a full
 * garbage collection.
 */
export function expressClasses(
  app: Express,
): Pick<ServerOptions, "IncomingMessage" | "ServerResponse"> {
  return {
    IncomingMessage: withPrototype(IncomingMessage, app.request),
    ServerResponse: withPrototype(ServerResponse, app.response),
  };
}

/** A class without members of its own, whose instances have `prototype`, which inherits from that of `base`. */
function withPrototype<Base>(base: Base, prototype: object): Base {
  function made(...given: unknown[]): object {
    return Reflect.construct(base as NewableFunction & Base, given, made);
  }
  made.prototype = prototype;
  return made as Base;
}
