import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { sql } from "kysely";
import { pino } from "pino";
import { Registry } from "prom-client";
import { createPublicClient, zeroAddress } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { gaugeOutgoing } from "#api/status/gauges.ts";
import { countedHttp, requestBatch } from "#jobs/chain/node-client.ts";
import { type CallMeter, openCallMeter } from "#jobs/outgoing-calls.ts";
import { openTransport, type Transport } from "#jobs/partners/transport.ts";
import { type CallCount, readCalls, storeCalls } from "#projections/log/outgoing-calls.ts";
import { createDatabase, type TestDatabase } from "#test/support/database/postgres.ts";
import { openConsole, type TestConsole } from "#test/support/http/console.ts";
import { tableOf } from "#test/support/http/page-tables.ts";

const Call = z.object({ id: z.number(), method: z.string() });
const results: Record<string, object> = {
  eth_chainId: { result: "0x1" },
  eth_call: { error: { code: 3, message: "execution reverted" } },
  eth_getLogs: { error: { code: -32005, message: "limit exceeded" } },
};

/** A node, a node that is down, and a partner whose path says how it answers. */
async function startServer(): Promise<Server> {
  const server = createServer(async (request, response) => {
    if (request.url === "/down") return void response.writeHead(502).end();
    const status = /^\/status\/(\d+)/.exec(request.url ?? "")?.[1];
    if (status !== undefined) return void response.writeHead(Number(status)).end("{}");
    const text = await new Response(request as never).text();
    const body: unknown = JSON.parse(text);
    const answer = ({ id, method }: z.output<typeof Call>) => ({
      ...{ jsonrpc: "2.0", id, ...(results[method] ?? { result: "0x" }) },
    });
    const answers = Array.isArray(body)
      ? body.map((one) => answer(Call.parse(one)))
      : answer(Call.parse(body));
    response.setHeader("content-type", "application/json").end(JSON.stringify(answers));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return server;
}

let database: TestDatabase;
let server: Server;
let url: string;
let host: string;
let meter: CallMeter;
let transport: Transport;
let console: TestConsole;
beforeAll(async () => {
  database = await createDatabase();
  server = await startServer();
  host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  url = `http://${host}`;
  const logger = pino({ level: "silent" });
  meter = openCallMeter({ url: database.url, role: "jobs", logger });
  transport = openTransport({
    ...{ name: "OpenSea", marketplace: "opensea", url, headers: {}, requestsPerMinute: 60 },
    timeouts: { timeoutMs: 30_000, waitMs: 0, attempts: 1 },
  });
  console = await openConsole(database);
});
afterAll(async () => {
  await console?.close();
  await transport?.close();
  await meter?.stop();
  server?.close();
  await database?.drop();
});

const cells = async (caption: string) =>
  tableOf((await console.get("/upstream")).page, caption).map((row) => row.cells);

describe("calls to nodes", () => {
  it("are counted by what became of them, also those of a node that is down", async () => {
    const node = { chainId: 1, rpcUrls: [`${url}/down`, `${url}/node`], timeoutMs: 30_000 };
    const call = (method: string) => ({ method, params: [] });
    await requestBatch(node, [call("eth_call"), call("eth_getLogs"), call("eth_getCode")]);
    await requestBatch(node, [call("eth_getCode")]);
    const transport = countedHttp({ chainId: 1, url: `${url}/down` }, 30_000);
    await expect(createPublicClient({ transport }).getChainId()).rejects.toThrow("502");
    const answering = createPublicClient({
      transport: countedHttp({ chainId: 1, url: `${url}/node` }, 30_000),
    });
    await expect(answering.call({ to: zeroAddress, data: "0x" })).rejects.toThrow("reverted");
    await expect(answering.getLogs()).rejects.toThrow("limit exceeded");
    await answering.getChainId();
    await meter.store();

    const counted = await readCalls(database.db, "node", new Date());
    expect(
      counted.map(({ role, target, host: at, method, outcome, calls, recent }) => ({
        ...{ role, target, at, call: `${method} ${outcome}`, calls, recent },
      })),
    ).toEqual(
      (
        [
          ["eth_call no_answer", 1],
          ["eth_call reverted", 2],
          ["eth_chainId no_answer", 1],
          ["eth_chainId result", 1],
          ["eth_getCode no_answer", 2],
          ["eth_getCode result", 2],
          ["eth_getLogs error", 2],
          ["eth_getLogs no_answer", 1],
        ] as const
      ).map(([name, calls]) => ({
        ...{ role: "jobs", target: "1", at: host, call: name, calls, recent: calls },
      })),
    );
  });

  it("stand on the console by method and by node, with the last failure, without keys", async () => {
    const byMethod = await cells("Calls by method");
    expect(byMethod.map((row) => row.slice(0, 6))).toEqual([
      ["1", "eth_call", "3", "1", "3", "1"],
      ["1", "eth_chainId", "2", "1", "2", "1"],
      ["1", "eth_getCode", "4", "2", "4", "2"],
      ["1", "eth_getLogs", "3", "3", "3", "3"],
    ]);
    expect(byMethod.find(([, method]) => method === "eth_call")?.[7]).toContain("HTTP 502");
    expect((await cells("Calls by node")).map((row) => row.slice(0, 5))).toEqual([
      ["1", "jobs", host, "12", "7"],
    ]);
    expect((await console.get("/upstream")).page).not.toContain("/node");
  });
});

describe("requests to partners", () => {
  it("are counted by budget and outcome, and what is left of the budgets is known", async () => {
    const send = (path: string, budget: "read" | "act" = "read") =>
      transport.send({ method: "GET", path, budget });
    await send("/status/200");
    await send("/status/500");
    await send("/status/200", "act");
    await meter.store();

    expect((await cells("Requests to partners")).map((row) => row.slice(0, 5))).toEqual([
      ["opensea", "jobs", "act", "1", "0"],
      ["opensea", "jobs", "read", "2", "1"],
    ]);
    const budgets = await cells("Budgets of requests, by the process that made the last one");
    // A minute restores 54 and 15; a busy machine may take seconds up to here.
    for (const [, , budget, left, burst] of budgets) {
      expect(Number(burst)).toBe(budget === "read" ? 6 : 15);
      expect(Number(left)).toBeLessThanOrEqual(Number(burst));
    }
    expect(budgets.map(([, role, budget, , , perMinute]) => [role, budget, perMinute])).toEqual([
      ["jobs", "act", "30"],
      ["jobs", "read", "60"],
    ]);
  });

  it("have nothing left while the partner asks for a pause", async () => {
    await transport.send({ method: "GET", path: "/status/429", budget: "read" });
    await meter.store();
    const budgets = await cells("Budgets of requests, by the process that made the last one");
    expect(budgets.map(([, , , left]) => left)).toEqual(["0", "0"]);
  });
});

describe("metrics", () => {
  it("are the table's totals", async () => {
    const registry = new Registry();
    gaugeOutgoing(registry, database.db, () => new Date());
    const text = await registry.metrics();
    const shown = [...text.matchAll(/^rpc_calls_total\{(.*)\} (\d+)$/gm)].map(
      ([, labels, calls]) => `${labels} ${calls}`,
    );
    const { rows } = await sql<{ line: string }>`
      select format('role="%s",chain="%s",method="%s",outcome="%s" %s', role, target, method, outcome, sum(calls)) as line
      from ops.outgoing_call where kind = 'node' group by role, target, method, outcome`.execute(
      database.db,
    );
    expect(shown.toSorted()).toEqual(rows.map(({ line }) => line).toSorted());
    expect(text).toMatch(
      /^partner_requests_total\{role="jobs",marketplace="opensea",budget="read",outcome="limited"\} 1$/m,
    );
    expect(text).toMatch(
      /^partner_budget_left\{role="jobs",marketplace="opensea",budget="act"\} 0$/m,
    );
  });
});

describe("stored counts", () => {
  const one: CallCount = {
    ...{ kind: "node", target: "33139", host: "", method: "eth_getLogs", outcome: "result" },
    ...{ calls: 5, message: null },
  };

  it("add up for good, and know the present hour and the one before", async () => {
    const { db } = database;
    const at = (text: string) => new Date(`2026-01-01T${text}:00Z`);
    const recentAt = async (text: string) => {
      const all = await readCalls(db, "node", at(text));
      return all
        .filter(({ role }) => role === "indexer")
        .map(({ calls, recent }) => [calls, recent]);
    };
    await storeCalls(db, "indexer", [one], at("10:10"));
    await storeCalls(db, "indexer", [one], at("10:50"));
    expect(await recentAt("10:59")).toEqual([[10, 10]]);
    await storeCalls(db, "indexer", [one], at("11:20"));
    expect(await recentAt("11:30")).toEqual([[15, 15]]);
    expect(await recentAt("12:30")).toEqual([[15, 5]]);
    expect(await recentAt("13:30")).toEqual([[15, 0]]);
    await storeCalls(db, "indexer", [one], at("14:00"));
    expect(await recentAt("14:30")).toEqual([[20, 5]]);
  });
});
