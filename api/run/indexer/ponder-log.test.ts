import { pino } from "pino";
import { describe, expect, it, vi } from "vitest";
import { readPonderLog } from "./ponder-log.ts";

const secret = "https://rpc.example.com/v2/my-key";

function read(...lines: unknown[]) {
  const told: { level: number; msg: string }[] = [];
  const logger = pino({ level: "info" }, { write: (line) => told.push(JSON.parse(line)) });
  const onLive = vi.fn();
  const onLine = readPonderLog({ chainId: 33139, logger, secrets: [secret], onLive });
  for (const line of lines) onLine(typeof line === "string" ? line : JSON.stringify(line));
  return { told: told.map(({ level, msg }) => [level, msg]), onLive };
}

const failedRequest = {
  level: 40,
  msg: "Received JSON-RPC error",
  method: "eth_getLogs",
  error: { message: `HTTP request failed.\n\nURL: ${secret}\nconnect ECONNREFUSED` },
};

describe("readPonderLog", () => {
  it("tells a failed request once, without its stack and its key", () => {
    const { told } = read(failedRequest, failedRequest);
    const words =
      "Ponder: Received JSON-RPC error · eth_getLogs · HTTP request failed. · connect ECONNREFUSED";
    expect(told).toEqual([[40, words]]);
  });

  it("masks a key wherever it stands", () => {
    const { told } = read({ level: 50, msg: `no answer from ${secret}` });
    expect(told).toEqual([[50, "Ponder: no answer from https://rpc.example.com/***"]]);
  });

  it("names a chain that a deep reorg has frozen", () => {
    const { told } = read({
      level: 40,
      msg: "Encountered unrecoverable reorg",
      finalized_block: 94,
    });
    expect(told).toEqual([
      [50, expect.stringMatching(/^chain 33139 is frozen: it was reorganised below block 94,/)],
    ]);
  });

  it("hears that the backfill is done, and keeps the ordinary course of things out of the log", () => {
    const { told, onLive } = read(
      { level: 30, msg: "Started returning 200 responses", endpoint: "/health" },
      { level: 30, msg: "Started returning 200 responses", endpoint: "/ready" },
      { level: 40, msg: "Received SIGINT" },
    );
    expect(onLive).toHaveBeenCalledOnce();
    expect(told).toEqual([]);
  });

  it("passes on what is no JSON: a crash of the process itself", () => {
    const { told } = read("FATAL ERROR: JavaScript heap out of memory");
    expect(told).toEqual([[40, "Ponder: FATAL ERROR: JavaScript heap out of memory"]]);
  });
});
