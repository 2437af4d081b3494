import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { z } from "zod";

type Call = { id: number; method: string; params: unknown[] };
type Answer = { id: number; result?: unknown; error?: { code: number; message: string } };

/** A proxy of a node that counts and can change its answers. */
export type RpcProxy = {
  url: string;
  /** HTTP requests so far. */
  requests: number;
  /** Answer in place of the node's; undefined: the node's answer. */
  override: (call: Call) => Omit<Answer, "id"> | undefined;
  /** Answer in place of the node's to a request of so many calls; `isBatch`: in a list. */
  refuse: (count: number, isBatch: boolean) => { status: number; body: unknown } | undefined;
  /** What becomes of each of the node's answers. */
  reform: (answer: Record<string, unknown>) => Record<string, unknown>;
  /** Awaited before each request is passed on. */
  before: (calls: readonly Call[]) => Promise<void>;
  close(): Promise<void>;
};

const Calls = z.array(
  z.object({ id: z.number(), method: z.string(), params: z.array(z.any()).default([]) }),
);
const Answers = z.array(z.looseObject({ id: z.number() }));

export async function startRpcProxy(rpcUrl: string): Promise<RpcProxy> {
  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks).toString();
    const parsed: unknown = JSON.parse(body);
    const isBatch = Array.isArray(parsed);
    const calls = Calls.parse(isBatch ? parsed : [parsed]);
    proxy.requests += 1;
    await proxy.before(calls);
    const refused = proxy.refuse(calls.length, isBatch);
    response.setHeader("content-type", "application/json");
    if (refused !== undefined) {
      response.writeHead(refused.status).end(JSON.stringify(refused.body));
      return;
    }
    const nodeResponse = await fetch(rpcUrl, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
    });
    const given: unknown = await nodeResponse.json();
    const answers = Answers.parse(isBatch ? given : [given]).map((answer) => {
      const call = calls.find(({ id }) => id === answer.id);
      const override = call && proxy.override(call);
      return override === undefined
        ? proxy.reform(answer)
        : { jsonrpc: "2.0", id: answer.id, ...override };
    });
    response.end(JSON.stringify(isBatch ? answers : answers[0]));
  };
  const server = createServer((request, response) => {
    // The node may stop while a caller has given up waiting.
    handle(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const proxy: RpcProxy = {
    url: `http://127.0.0.1:${port}`,
    requests: 0,
    override: () => undefined,
    refuse: () => undefined,
    reform: (answer) => answer,
    before: async () => {},
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return proxy;
}
