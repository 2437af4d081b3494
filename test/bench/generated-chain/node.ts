import { writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { setPriority } from "node:os";
import { argv } from "node:process";
import { buffer } from "node:stream/consumers";
import { generateChain } from "./chain.ts";
import { noRequests, openRpcMethods } from "./rpc-methods.ts";

/**
 * A JSON-RPC node of a generated chain, in a process of its own. It stands for another machine: it yields the processors
 * to what is measured, also where Linux schedules its session as a group (sched(7)).
 */
setPriority(19);
await writeFile("/proc/self/autogroup", "10").catch(() => {});

export type NodeReport = { url: string; lastBlock: number; blurSales: number };

type Call = { id: number; method: string; params?: unknown[] };

const [facts = 0, transactionsInBlock = 0] = argv.slice(2).map(Number);
const chain = generateChain({ facts, transactionsInBlock });
let requests = noRequests();
const methods = openRpcMethods(chain, (what) => {
  requests[what] += 1;
});

function answer({ id, method, params = [] }: Call) {
  const run = methods[method];
  if (run !== undefined) return { jsonrpc: "2.0", id, result: run(params) };
  return { jsonrpc: "2.0", id, error: { code: -32601, message: `no method ${method}` } };
}

async function respond(request: IncomingMessage): Promise<string> {
  const body = JSON.parse((await buffer(request)).toString()) as Call | Call[];
  return JSON.stringify(Array.isArray(body) ? body.map(answer) : answer(body));
}

const server = createServer((request, response) => {
  respond(request).then(
    (body) => response.setHeader("content-type", "application/json").end(body),
    () => response.destroy(),
  );
});
server.listen(0, "127.0.0.1", () => {
  const { port } = server.address() as AddressInfo;
  const { lastBlock, blurSales } = chain;
  process.send?.({ url: `http://127.0.0.1:${port}`, lastBlock, blurSales } satisfies NodeReport);
});
process.on("message", () => {
  process.send?.(requests);
  requests = noRequests();
});
process.on("disconnect", () => process.exit(0));
