import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { NodeReport } from "./node.ts";
import type { RequestCounts } from "./rpc-methods.ts";

export type ChainNode = NodeReport & {
  /** Requests since the last call. */
  takeRequests(): Promise<RequestCounts>;
  stop(): Promise<void>;
};

/** Starts a node of a generated chain with about `facts` facts. */
export async function startNode(facts: number): Promise<ChainNode> {
  const path = fileURLToPath(new URL("node.ts", import.meta.url));
  const child = fork(path, [String(facts)], { execArgv: ["--import", "tsx"], detached: true });
  const [report] = (await once(child, "message")) as [NodeReport];
  return {
    ...report,
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
