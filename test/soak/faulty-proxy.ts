import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";

/**
 * How a host misbehaves: it never answers, answers with errors, cuts and garbles its bodies, or (a node) tells of a head
 * some blocks back, or lies: other addresses and numbers where a contract is asked, and no events.
 */
export const faults = ["hang", "fail", "garble", "rewind", "lie"] as const;
type Fault = (typeof faults)[number];

export type FaultyProxy = {
  url: string;
  /** Null: it passes everything on. */
  fault: Fault | null;
  /** Calls so far: requests, or the JSON-RPC calls in them. */
  calls: number;
  close(): Promise<void>;
};

/** Blocks that a rewound node is behind. */
const rewoundBlocks = 3;

/** A proxy of an HTTP host that can be made to misbehave. */
export async function startFaultyProxy(target: string): Promise<FaultyProxy> {
  const server = createServer((request, response) => {
    // The host may end, and a caller may give up.
    answer(proxy, target, request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const proxy: FaultyProxy = {
    url: `http://127.0.0.1:${port}`,
    fault: null,
    calls: 0,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return proxy;
}

async function answer(
  proxy: FaultyProxy,
  target: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const sent = Buffer.concat(chunks);
  proxy.calls += Math.max(1, sent.toString().split('"method"').length - 1);
  const { fault } = proxy;
  if (fault === "hang") return;
  if (fault === "fail") {
    response.writeHead(502, { "content-type": "text/html" }).end("<h1>Bad gateway</h1>");
    return;
  }
  // Work for callers that gave up would keep a busy machine from ever catching up.
  if (response.destroyed) return;
  const isGone = new AbortController();
  response.once("close", () => isGone.abort());
  const answered = await fetch(new URL(request.url ?? "/", target), {
    signal: isGone.signal,
    method: request.method ?? "GET",
    headers: endToEnd(request.headers),
    ...(sent.length > 0 ? { body: sent } : {}),
  });
  const body = Buffer.from(await answered.arrayBuffer());
  response.statusCode = answered.status;
  response.setHeader("content-type", answered.headers.get("content-type") ?? "application/json");
  response.end(changed(body, sent, fault));
}

/** Headers of the connection itself are not passed on. */
const hopByHop =
  /^(host|connection|keep-alive|content-length|transfer-encoding|accept-encoding|expect)$/;

function endToEnd(headers: IncomingHttpHeaders): Record<string, string> {
  const kept = Object.entries(headers).filter(([name]) => !hopByHop.test(name));
  return Object.fromEntries(kept.map(([name, value]) => [name, `${value}`]));
}

function changed(body: Buffer, sent: Buffer, fault: Fault | null): Buffer | string {
  if (fault === "garble") return `${body.subarray(0, body.length / 2)}\u0000{{`;
  if (fault === "rewind") return rewound(body, sent);
  return fault === "lie" ? lied(body, sent) : body;
}

type Message = { id?: number; method?: string; result?: unknown };

type Change = (result: unknown) => unknown;

/** The answers to a question for the height of the head are some blocks lower. */
const rewound = (body: Buffer, sent: Buffer) =>
  changeResults(body, sent, {
    eth_blockNumber: (result) =>
      typeof result === "string"
        ? `0x${Math.max(0, Number(result) - rewoundBlocks).toString(16)}`
        : result,
  });

/** A word with an address or a number, in what a contract answers. */
const word = /0{24}[0-9a-f]{38}(?=[0-9a-f]{2})/g;

/** Contracts answer other addresses and amounts, and blocks have no events. */
const lied = (body: Buffer, sent: Buffer) =>
  changeResults(body, sent, {
    eth_call: (result) =>
      typeof result === "string" && result.length >= 66
        ? `0x${result.slice(2).replaceAll(word, (start) => `${start.slice(0, -2)}ff`)}`
        : result,
    eth_getLogs: () => [],
  });

/** Changes the results of some methods. */
function changeResults(
  body: Buffer,
  sent: Buffer,
  changes: Readonly<Record<string, Change>>,
): string {
  const text = body.toString();
  const changeOf = new Map(
    messagesOf(sent.toString()).map(({ id, method = "" }) => [id, changes[method]]),
  );
  if (![...changeOf.values()].some(Boolean)) return text;
  const answers = messagesOf(text).map((one) => {
    const change = changeOf.get(one.id);
    return change === undefined || one.result === undefined
      ? one
      : { ...one, result: change(one.result) };
  });
  return JSON.stringify(text.trimStart().startsWith("[") ? answers : answers[0]);
}

function messagesOf(text: string): Message[] {
  try {
    const content = JSON.parse(text) as Message | Message[];
    return Array.isArray(content) ? content : [content];
  } catch {
    return [];
  }
}
