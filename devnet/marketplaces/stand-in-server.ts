import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import type { Hex } from "viem";
import { z } from "zod";
import { type StoredListing, totalWei } from "./listing-store.ts";
import { stringifyBare } from "./seaport-shapes.ts";

export type StandInRequest = {
  method: string;
  /** As it came, without the query. */
  path: string;
  query: URLSearchParams;
  /** Parsed JSON; undefined: there was none. */
  body: unknown;
  /** Unix seconds by the partner's clock. */
  now: number;
  wrong: Faults["wrong"];
};

export type Answer = { status: number; body: unknown };

/** A request as it is remembered; the key itself is not kept. */
export type Remembered = {
  at: number;
  method: string;
  path: string;
  query: string;
  /** 0: the connection was broken. */
  status: number;
  hasKey: boolean;
};

type ServerOptions = {
  port: number;
  /** Without it every key is good, and none is needed. */
  apiKey: string | undefined;
  /** Undefined: there is no such path. */
  answer(request: StandInRequest): Promise<Answer | undefined>;
  control(request: StandInRequest, server: StandInServer): Promise<Answer | undefined>;
  /** Takes connections that are to be a stream. */
  upgrade(request: IncomingMessage, connection: Duplex, server: StandInServer): void;
};

export type StandInServer = {
  port: number;
  faults: Faults;
  /** Unix seconds by the partner's clock. */
  now(): number;
  /** The latest ones, oldest first. */
  requests: Remembered[];
  close(): Promise<void>;
};

const rememberedAtMost = 10_000;
const bodyBytesAtMost = 1_000_000;
const controlPath = /^\/_control(\/|$)/;

/** A partner's HTTP side: its faults, its memory of requests, and `/_control`, which has no faults. `port` 0 is any free one. */
export async function startStandInServer(options: ServerOptions): Promise<StandInServer> {
  const http = createServer((request, response) => {
    serve(options, server, request, response).catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else write(response, { status: 500, body: { errors: [`${error}`] } });
    });
  });
  http.on("upgrade", (request, connection) => options.upgrade(request, connection, server));
  await new Promise<void>((resolve, reject) => {
    http.once("error", reject).listen(options.port, "127.0.0.1", resolve);
  });
  const server: StandInServer = {
    port: (http.address() as AddressInfo).port,
    faults: withoutFaults,
    now: () => Math.floor(Date.now() / 1000) + server.faults.clockOffsetSeconds,
    requests: [],
    close() {
      http.closeAllConnections();
      return new Promise((resolve) => http.close(() => resolve()));
    },
  };
  return server;
}

async function serve(
  options: ServerOptions,
  server: StandInServer,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { pathname, searchParams } = new URL(request.url ?? "/", "http://localhost");
  const received: StandInRequest = {
    method: request.method ?? "GET",
    path: pathname,
    query: searchParams,
    body: await readJson(request),
    now: server.now(),
    wrong: server.faults.wrong,
  };
  if (controlPath.test(pathname)) {
    write(response, (await options.control(received, server)) ?? notFound);
    return;
  }
  const key = request.headers["x-api-key"] ?? request.headers.authorization;
  const remembered: Remembered = {
    at: Date.now(),
    method: received.method,
    path: pathname,
    query: searchParams.toString(),
    status: 0,
    hasKey: key !== undefined,
  };
  server.requests.push(remembered);
  if (server.requests.length > rememberedAtMost) server.requests.shift();
  if (server.faults.slowMs > 0) await delay(server.faults.slowMs);
  if (server.faults.down === "reset") {
    request.socket.destroy();
    return;
  }
  const isKnown = options.apiKey === undefined || `${key}`.endsWith(options.apiKey);
  const refusal = isKnown ? refusalOf(server) : unauthorized;
  const answer = refusal ?? (await options.answer(received)) ?? notFound;
  remembered.status = answer.status;
  write(response, answer, server.faults);
}

const notFound: Answer = { status: 404, body: { errors: ["Not found"] } };
const unauthorized: Answer = { status: 401, body: { errors: ["The API key is missing or wrong"] } };

function refusalOf(server: StandInServer): (Answer & { retryAfterSeconds?: number }) | undefined {
  const { faults } = server;
  if (faults.down === "refusing") return { status: 503, body: { errors: ["Unavailable"] } };
  const { limited } = faults;
  if (limited === null) return undefined;
  const { retryAfterSeconds, requests } = limited;
  if (requests !== undefined) {
    const left = requests > 1 ? { retryAfterSeconds, requests: requests - 1 } : null;
    server.faults = { ...faults, limited: left };
  }
  return { status: 429, body: { errors: ["Too many requests"] }, retryAfterSeconds };
}

function write(
  response: ServerResponse,
  { status, body, retryAfterSeconds }: Answer & { retryAfterSeconds?: number },
  faults: Faults = withoutFaults,
): void {
  const text = stringifyBare(body);
  response.writeHead(status, {
    "content-type": "application/json",
    ...(retryAfterSeconds === undefined ? {} : { "retry-after": `${retryAfterSeconds}` }),
  });
  const isCut = faults.wrong.includes("truncated") && status === 200;
  response.end(isCut ? text.slice(0, text.length >> 1) : text);
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += chunk.length;
    if (bytes <= bodyBytesAtMost) chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString());
  } catch {
    return undefined;
  }
}

/** What can be wrong with an answer that arrives. */
const wrongnesses = [
  /** Every second listing of a page lacks what it must have, or has it in another type. */
  "malformed",
  /** Listings are returned under the hash of another order. */
  "hash",
  /** Prices are returned that differ from the sum of the legs. */
  "price",
  /** The body ends in the middle. */
  "truncated",
  /** Fulfilment data is of an order that pays the seller more. */
  "substituted",
  /** Fulfilment data is signed by somebody whom the zone does not believe. */
  "signer",
] as const;

export const Faults = z.object({
  /** Time before every answer. */
  slowMs: z.int().min(0).max(600_000),
  wrong: z.array(z.enum(wrongnesses)),
  /** `reset`: connections break; `refusing`: 503. */
  down: z.enum(["reset", "refusing"]).nullable(),
  /**
   * Of the stream. `down`: no connection; `refusing`: 401; `mute`: nothing is answered; `losing`: events are lost;
   * `garbage`: before each event comes something that cannot be read.
   */
  stream: z.enum(["down", "refusing", "mute", "losing", "garbage"]).nullable(),
  /** 429 for the next `requests`, or for all of them. */
  limited: z
    .object({ retryAfterSeconds: z.int().min(0), requests: z.int().min(1).optional() })
    .nullable(),
  /** How far the partner's clock is ahead. */
  clockOffsetSeconds: z.int(),
});

export type Faults = z.output<typeof Faults>;

export const withoutFaults: Faults = {
  slowMs: 0,
  wrong: [],
  down: null,
  stream: null,
  limited: null,
  clockOffsetSeconds: 0,
};

/** Hash and whole price of a listing as they are, or as the faults want them. */
export function presentedTerms(
  shown: StoredListing,
  { wrong }: Pick<StandInRequest, "wrong">,
): { hash: Hex; wei: bigint } {
  const { orderHash } = shown;
  const lastDigit = orderHash.endsWith("0") ? "1" : "0";
  const wei = totalWei(shown.order);
  return {
    hash: wrong.includes("hash") ? `0x${orderHash.slice(2, -1)}${lastDigit}` : orderHash,
    wei: wrong.includes("price") ? wei / 2n : wei,
  };
}

/** Every second entry spoilt, each in its own way, when the answers are to be malformed. */
export function corruptPage<Entry extends object>(
  entries: readonly Entry[],
  { wrong }: StandInRequest,
) {
  if (!wrong.includes("malformed")) return entries;
  const ways: readonly ((entry: Entry) => unknown)[] = [
    () => null,
    (entry) => ({ ...entry, protocol_data: { parameters: { offerer: 7 } } }),
    (entry) => Object.fromEntries(Object.entries(entry).slice(1)),
    (entry) => ({ ...entry, protocol_address: "0xnothing", price: "free", rawData: [] }),
  ];
  return entries.map((entry, index) =>
    index % 2 === 0 ? ways[(index / 2) % ways.length]?.(entry) : entry,
  );
}
