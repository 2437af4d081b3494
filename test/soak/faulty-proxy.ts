import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";

/**
 * How a host misbehaves: it never answers, answers with errors, cuts and garbles its bodies, or (a node) tells of a head
 * some blocks back.
 */
export const faults = ["hang", "fail", "garble", "rewind"] as const;
type Fault = (typeof faults)[number];

export type FaultyProxy = {
  url: string;
  /** Null: it passes everything on. */
  fault: Fault | null;
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
  const { fault } = proxy;
  if (fault === "hang") return;
  if (fault === "fail") {
    response.writeHead(502, { "content-type": "text/html" }).end("<h1>Bad gateway</h1>");
    return;
  }
  const answered = await fetch(new URL(request.url ?? "/", target), {
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
  return fault === "rewind" ? rewound(body, sent) : body;
}

type Message = { id?: number; method?: string; result?: unknown };

/** The answers to a question for the height of the head are some blocks lower. */
function rewound(body: Buffer, sent: Buffer): string {
  const text = body.toString();
  const asked = messagesOf(sent.toString());
  const answers = messagesOf(text);
  const heads = asked.filter(({ method }) => method === "eth_blockNumber").map(({ id }) => id);
  if (heads.length === 0) return text;
  const lower = answers.map((one) =>
    heads.includes(one.id) && typeof one.result === "string"
      ? { ...one, result: `0x${Math.max(0, Number(one.result) - rewoundBlocks).toString(16)}` }
      : one,
  );
  return JSON.stringify(Array.isArray(JSON.parse(text)) ? lower : lower[0]);
}

function messagesOf(text: string): Message[] {
  try {
    const content = JSON.parse(text) as Message | Message[];
    return Array.isArray(content) ? content : [content];
  } catch {
    return [];
  }
}
