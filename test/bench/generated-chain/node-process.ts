import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { ChainSize } from "./chain.ts";
import type { NodeReport } from "./node.ts";
import type { RequestCounts } from "./rpc-methods.ts";

export type ChainNode = NodeReport & {
  pid: number;
  /** Requests since the last call. */
  takeRequests(): Promise<RequestCounts>;
  stop(): Promise<void>;
};

const usual = { transactionsInBlock: 80 };

/** Starts a node of a generated chain. */
export async function startNode(
  size: Pick<ChainSize, "facts"> & Partial<ChainSize>,
): Promise<ChainNode> {
  const { facts, transactionsInBlock } = { ...usual, ...size };
  const path = fileURLToPath(new URL("node.ts", import.meta.url));
  const child = fork(path, [`${facts}`, `${transactionsInBlock}`], {
    detached: true,
  });
  const [report] = (await once(child, "message")) as [NodeReport];
  return {
    ...report,
    pid: child.pid ?? 0,
    async takeRequests() {
      child.send("requests");
      const [requests] = (await once(child, "message")) as [RequestCounts];
      return requests;
    },
    async stop() {
      const exited = once(child, "exit");
      child.disconnect();
      await exited;
    },
  };
}
