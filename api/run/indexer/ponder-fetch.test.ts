import { execFile } from "node:child_process";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ponderDirectory } from "../programs/installed-paths.ts";
import { callsByHttp } from "./ponder-process.ts";

const json = (value: object) => JSON.stringify({ jsonrpc: "2.0", id: 1, ...value });
const block = { number: "0x10", text: "é".repeat(100_000) };

/** What a node may do with a call, by path. */
const behaviors: Record<string, (request: IncomingMessage, response: ServerResponse) => void> = {
  "/result": (_, response) => response.end(json({ result: block })),
  "/asked": async (request, response) => {
    const asked = JSON.parse(Buffer.concat(await request.toArray()).toString());
    const { "content-type": type, "x-request-id": id } = request.headers;
    response.end(json({ result: { asked, type, id, method: request.method } }));
  },
  "/zipped": ({ headers }, response) => {
    if (!headers["accept-encoding"]?.includes("gzip")) return void response.writeHead(406).end();
    response.writeHead(200, { "Content-Encoding": "gzip" }).end(gzipSync(json({ result: block })));
  },
  "/parts": (_, response) => {
    const text = Buffer.from(json({ result: block }));
    response.write(text.subarray(0, 70_001));
    setTimeout(() => response.end(text.subarray(70_001)), 20);
  },
  "/null": (_, response) => response.end(json({ result: null })),
  "/error": (_, response) => response.end(json({ error: { code: -32_005, message: "too many" } })),
  "/limited": (_, response) => response.writeHead(429, { "Retry-After": "7" }).end("slow down"),
  "/failed": (_, response) => response.writeHead(500).end(json({ error: { code: 1 } })),
  "/text": (_, response) => response.end("<html>"),
  "/empty": (_, response) => response.end(),
  "/moved": (_, response) => response.writeHead(307, { Location: "/asked" }).end(),
  "/cut": (_, response) => {
    response.writeHead(200, { "Content-Length": "100" }).write("{", () => response.destroy());
  },
  "/closed": (_, response) => void response.destroy(),
  "/silent": () => {},
  "/half": (_, response) => void response.write("{"),
};

let server: ReturnType<typeof createServer>;
let nodeUrl: string;
beforeAll(async () => {
  server = createServer((request, response) => behaviors[request.url ?? ""]?.(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  nodeUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => server.close().closeAllConnections());

/** Calls every URL by Ponder's own client, in a process of its own. */
const calling = `
const [client, ...urls] = process.argv.slice(1);
const { getHttpRpcClient } = await import(client);
const common = { logger: { warn: () => {} } };
const outcomes = [];
for (const url of urls) {
  const { request } = getHttpRpcClient(url, { common, chain: { name: "a", id: 1 }, timeout: 500 });
  const call = { body: { method: "eth_getBlockByNumber", params: ["0x10", true] }, fetchOptions: { headers: { "X-Request-ID": "7" } } };
  outcomes.push(await request(call).then(
    (result) => ({ result }),
    ({ name, status, code, details, headers }) => ({ name, status, code, details: status && details, retryAfter: headers?.get("Retry-After") }),
  ));
}
process.stdout.write(JSON.stringify(outcomes), () => process.exit());
`;

async function outcomesOf(flags: readonly string[], urls: readonly string[]): Promise<unknown[]> {
  const client = pathToFileURL(join(ponderDirectory, "dist/esm/rpc/http.js")).href;
  const script = ["--input-type=module", "--eval", calling, client, ...urls];
  const options = { maxBuffer: 64 * 1024 * 1024 };
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, ...script], options);
  return JSON.parse(stdout);
}

test("Ponder's calls have the results and errors that they have by the standard fetch", async () => {
  const unreachable = "http://127.0.0.1:1/";
  const urls = [...Object.keys(behaviors).map((path) => `${nodeUrl}${path}`), unreachable];
  const [ours, standard] = [await outcomesOf(callsByHttp, urls), await outcomesOf([], urls)];
  expect(ours).toEqual(standard);
  const byPath = new Map(Object.keys(behaviors).map((path, index) => [path, ours[index]]));
  for (const path of ["/result", "/zipped", "/parts"])
    expect(byPath.get(path)).toEqual({ result: block });
  expect(byPath.get("/limited")).toMatchObject({ status: 429, retryAfter: "7" });
  expect(byPath.get("/silent")).toMatchObject({ name: "TimeoutError" });
});

test("a connection that the node closed while it was idle is no error", async () => {
  const calls = new Map<unknown, number>();
  const closing = createServer((request, response) => {
    const nth = (calls.get(request.socket) ?? 0) + 1;
    calls.set(request.socket, nth);
    if (nth > 1) request.socket.resetAndDestroy();
    else response.end(json({ result: nth }));
  });
  closing.listen(0, "127.0.0.1");
  await once(closing, "listening");
  const url = `http://127.0.0.1:${(closing.address() as AddressInfo).port}/`;
  expect(await outcomesOf(callsByHttp, [url, url, url])).toEqual(
    [1, 1, 1].map((result) => ({ result })),
  );
  expect([...calls.values()]).toEqual([2, 2, 1]);
  closing.close();
});
