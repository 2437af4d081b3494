import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { NodeReport } from "./node.ts";
import type { Asked } from "./rpc-methods.ts";

export type ChainNode = NodeReport & {
  /** What was asked for since the last call. */
  takeAsked(): Promise<Asked>;
  stop(): Promise<void>;
};

/** Starts a node of a generated chain with about `facts` facts. */
export async function startNode(facts: number): Promise<ChainNode> {
  const path = fileURLToPath(new URL("node.ts", import.meta.url));
  const child = fork(path, [String(facts)], { execArgv: ["--import", "tsx"], detached: true });
  const [report] = (await once(child, "message")) as [NodeReport];
  return {
    ...report,
    async takeAsked() {
      child.send("asked");
      const [asked] = (await once(child, "message")) as [Asked];
      return asked;
    },
    async stop() {
      const exited = once(child, "exit");
      child.disconnect();
      await exited;
    },
  };
}
