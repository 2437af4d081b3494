import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import type { ProvableChain } from "../chain/provable-chain.ts";
import { answerCalls, type RpcCall, type ServedAnswer } from "./answers.ts";
import { usualDescription } from "./contracts.ts";
import { type Faults, noFaults, openFaultDraws } from "./faults.ts";
import type { FaultyNode } from "./node-state.ts";
import { openSockets } from "./sockets.ts";

export async function startFaultyNode(chain: ProvableChain, seed = 1): Promise<FaultyNode> {
  const draw = openFaultDraws(seed);
  const server = createServer((request, response) => {
    respond(node, draw, request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const node: FaultyNode = {
    ...{ url: `http://127.0.0.1:${port}`, wsUrl: `ws://127.0.0.1:${port}` },
    ...{ faults: noFaults(), chain, description: usualDescription, calls: new Map() },
    ...{ counts: { requests: 0, struck: 0 }, unknownMethods: new Set() },
    cutSockets: () => sockets.cut(),
    async close() {
      sockets.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  const sockets = openSockets(server, node, (calls) => answerCalls(node, draw, calls));
  return node;
}

async function respond(
  node: FaultyNode,
  draw: (share: number) => boolean,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const body: unknown = JSON.parse((await buffer(request)).toString() || "null");
  const calls = [body].flat() as RpcCall[];
  const { counts } = node;
  counts.requests += 1;
  const { http, delayMs, largestBatch } = node.faults;
  if (delayMs > 0) await delay(delayMs);
  const isTouched = http?.of === "all" || calls.some(({ method }) => method === "eth_getLogs");
  if (http !== null && isTouched && draw(http.share)) {
    counts.struck += 1;
    return fail(http.fault, calls, response, Array.isArray(body));
  }
  if (Array.isArray(body) && body.length > largestBatch) {
    return send(response, 500, refusedBatch(largestBatch));
  }
  const { answers, status } = answerCalls(node, draw, calls);
  send(response, status, Array.isArray(body) ? shaped(answers, node.faults) : answers[0]);
}

const shaped = (answers: readonly ServedAnswer[], { form }: Faults): readonly ServedAnswer[] =>
  form.reversed ? answers.toReversed() : answers;

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}

/** As dRPC's free tier answers. */
const refusedBatch = (largest: number) => ({
  ...{ id: null, jsonrpc: "2.0" },
  error: {
    code: 31,
    message:
      largest === 0
        ? "Batch requests are not allowed"
        : `Batch of more than ${largest} requests are not allowed on free tier, to use this feature register paid account`,
  },
});

type HttpFailure = NonNullable<Faults["http"]>["fault"];

/** Answers as the fault has it; `silent`: not at all. */
function fail(
  fault: HttpFailure,
  calls: readonly RpcCall[],
  response: ServerResponse,
  isBatch: boolean,
): void {
  const error = { code: -32_603, message: "internal error" };
  const errors = calls.map(({ id }) => ({ jsonrpc: "2.0", id, error }));
  if (fault === "429") send(response, 429, { error: { code: 429, message: "rate limited" } });
  if (fault === "502") response.writeHead(502).end("<html>Bad Gateway</html>");
  if (fault === "closed") response.destroy();
  if (fault === "cut") {
    response.writeHead(200, { "content-type": "application/json", "content-length": "4096" });
    response.write('{"jsonrpc":"2.0","id":1,"resu', () => response.destroy());
  }
  if (fault === "error") send(response, 200, isBatch ? errors : errors[0]);
}
