import { pino } from "pino";
import { describe, expect, it, vi } from "vitest";
import { readPonderLog } from "./ponder-log.ts";

const secret = "https://rpc.example.com/v2/my-key";

function read(...lines: unknown[]) {
  const logged: object[] = [];
  const write = (line: string) => {
    const { time: _, pid: __, hostname: ___, ...entry } = JSON.parse(line);
    logged.push(entry);
  };
  const logger = pino({ level: "info" }, { write });
  const onLive = vi.fn();
  const onLine = readPonderLog({
    indexer: "core",
    chainId: 33139,
    logger,
    secrets: [secret],
    onLive,
  });
  for (const line of lines) onLine(typeof line === "string" ? line : JSON.stringify(line));
  return { logged, onLive };
}

const failedRequest = {
  level: 40,
  msg: "Received JSON-RPC error",
  method: "eth_getLogs",
  error: { message: `HTTP request failed.\n\nURL: ${secret}\nconnect ECONNREFUSED` },
};

describe("readPonderLog", () => {
  it("logs a failed request once, without its stack and its key", () => {
    const { logged } = read(failedRequest, failedRequest);
    const msg = "Ponder: Received JSON-RPC error";
    const reason = "HTTP request failed. · connect ECONNREFUSED";
    expect(logged).toEqual([
      { level: 40, indexer: "core", chainId: 33139, method: "eth_getLogs", reason, msg },
    ]);
  });

  it("masks a key anywhere in a line", () => {
    const { logged } = read({ level: 50, msg: `no answer from ${secret}` });
    const msg = "Ponder: no answer from https://rpc.example.com/***";
    expect(logged).toEqual([{ level: 50, indexer: "core", chainId: 33139, msg }]);
  });

  it("logs a reorg below the finalized block with the command that fixes it", () => {
    const { logged } = read({
      level: 40,
      msg: "Encountered unrecoverable reorg",
      finalized_block: 94,
    });
    const fields = { finalizedBlock: 94, fix: "npm run op -- recover --chain 33139" };
    const msg = "chain reorganized below its finalized block";
    expect(logged).toEqual([{ level: 50, indexer: "core", chainId: 33139, ...fields, msg }]);
  });

  it("reports the end of the backfill, and does not log Ponder's routine messages", () => {
    const { logged, onLive } = read(
      { level: 30, msg: "Started returning 200 responses", endpoint: "/health" },
      { level: 30, msg: "Started returning 200 responses", endpoint: "/ready" },
      { level: 40, msg: "Received SIGINT" },
    );
    expect(onLive).toHaveBeenCalledOnce();
    expect(logged).toEqual([]);
  });

  it("logs output that is not JSON, such as a crash of the process", () => {
    const { logged } = read("FATAL ERROR: JavaScript heap out of memory");
    const msg = "Ponder: FATAL ERROR: JavaScript heap out of memory";
    expect(logged).toEqual([{ level: 40, indexer: "core", chainId: 33139, msg }]);
  });
});
