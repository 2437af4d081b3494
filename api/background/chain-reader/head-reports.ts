import { setTimeout as delay } from "node:timers/promises";
import type { Hex } from "viem";
import { WebSocket } from "ws";
import { type Node, type NodePool, resultOf } from "./node-pool.ts";

/** The newest block, as a node or a websocket tells it. */
export type HeadReport = { readonly number: number; readonly hash: Hex };

const reconnectMs = 2_000;
const mostPauseMs = 5_000;

type Polling = {
  report: (block: HeadReport) => void;
  everyMs: () => number;
  signal: AbortSignal;
};

/** Asks a node for its newest block again and again, until the signal. */
export async function pollHead(
  pool: NodePool,
  node: Node,
  { report, everyMs, signal }: Polling,
): Promise<void> {
  const latest = { method: "eth_getBlockByNumber", params: ["latest", false] };
  let failures = 0;
  while (!signal.aborted) {
    try {
      report(
        await pool.askOne(node, {
          calls: [latest],
          accept: ([answer]) => reportOf(resultOf(answer)),
        }),
      );
      failures = 0;
    } catch {
      failures += 1;
    }
    await delay(Math.min(everyMs() * 2 ** Math.min(failures, 4), mostPauseMs), undefined, {
      signal,
    }).catch(() => {});
  }
}

function reportOf(result: unknown): HeadReport {
  const { number, hash } = (result ?? {}) as { number?: Hex; hash?: Hex };
  if (typeof number !== "string" || typeof hash !== "string") throw new Error("no block");
  return { number: Number(number), hash };
}

/** Listens to the blocks that a websocket announces, until the signal; one that ends is opened again. */
export async function subscribeHeads(
  url: string,
  signal: AbortSignal,
  report: (block: HeadReport) => void,
): Promise<void> {
  while (!signal.aborted) {
    await listenOnce(url, signal, report);
    await delay(reconnectMs, undefined, { signal }).catch(() => {});
  }
}

function listenOnce(
  url: string,
  signal: AbortSignal,
  report: (block: HeadReport) => void,
): Promise<void> {
  return new Promise((resolve) => {
    const socket = new WebSocket(url, { handshakeTimeout: 5_000 });
    const end = () => socket.terminate();
    signal.addEventListener("abort", end, { once: true });
    socket.on("error", () => {});
    socket.once("close", () => {
      signal.removeEventListener("abort", end);
      resolve();
    });
    socket.once("open", () => {
      const method = "eth_subscribe";
      socket.send(JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: ["newHeads"] }));
    });
    socket.on("message", (data) => {
      try {
        const message = JSON.parse(`${data}`);
        if (message.method === "eth_subscription") report(reportOf(message.params?.result));
      } catch {
        // Not an announcement: polls go on.
      }
    });
  });
}
