import { setTimeout as delay } from "node:timers/promises";
import { restOf, sendToNode } from "#jobs/chain/node-client.ts";
import { type RpcCall, RpcFailure, type RpcResponse, reasonOf } from "#jobs/chain/rpc.ts";

/** One of a chain's nodes, and what it was seen to be worth. */
export type Node = {
  readonly url: string;
  /** Without path and keys. */
  readonly host: string;
  /** Lowest height of which it proved to have the logs; infinite before the first proof. */
  provedFrom: number;
  /** Highest height of which it was seen to lack logs that a header promises, and when. */
  lacksUpTo: number;
  lacksSince: number;
  /** When it said that it has no `eth_getBlockReceipts`; null: it did not. */
  lacksReceiptsSince: number | null;
  /** The most blocks of one `eth_getLogs` that it answered since it refused more. */
  logsWidth: number;
  /** Failures since its last usable answer, and why. */
  failures: number;
  fault: string | null;
};

/** Reads an answer. Throws `RpcFailure` with the reason when the answer cannot be believed: another node is asked. */
type Acceptance<Value> = (answers: readonly RpcResponse[], node: Node) => Value | Promise<Value>;

type Question<Value> = {
  calls: readonly RpcCall[];
  accept: Acceptance<Value>;
  /** Nodes that are not asked. */
  without?: (node: Node) => boolean;
  /** How long it is asked again, in milliseconds. */
  forMs: number;
};

export type NodePool = {
  readonly chainId: number;
  readonly nodes: readonly Node[];
  /** Asks one node after the other, and all of them again, until an answer is believed. Throws `RpcFailure`. */
  ask<Value>(question: Question<Value>): Promise<Value>;
  /** Asks one node once. Throws `RpcFailure`. */
  askOne<Value>(node: Node, question: Omit<Question<Value>, "forMs" | "without">): Promise<Value>;
};

type NodePoolOptions = {
  chainId: number;
  rpcUrls: readonly string[];
  signal?: AbortSignal | undefined;
  /** The most blocks of one `eth_getLogs`. */
  logsWidth: number;
};

const answerMs = 8_000;
const maxBytes = 128 * 1024 * 1024;
const pause = { firstMs: 50, mostMs: 1_000 };

export function openNodePool(options: NodePoolOptions): NodePool {
  const { chainId, rpcUrls, signal, logsWidth } = options;
  const nodes = rpcUrls.map(
    (url): Node => ({
      ...{ url, host: URL.canParse(url) ? new URL(url).host : "unnamed" },
      ...{ provedFrom: Number.POSITIVE_INFINITY, lacksUpTo: -1, lacksSince: 0, logsWidth },
      ...{ lacksReceiptsSince: null, failures: 0, fault: null },
    }),
  );
  let turn = 0;
  /** The sound ones in turns, then the others, those that failed least first. */
  const order = (without?: (node: Node) => boolean): Node[] => {
    turn += 1;
    const asked = nodes.filter((node) => !without?.(node));
    const shifted = asked.map((_, nth) => asked[(nth + turn) % asked.length] as Node);
    return shifted.toSorted(
      (a, b) => Math.min(a.failures, 5) - Math.min(b.failures, 5) || restOf(a.url) - restOf(b.url),
    );
  };
  const askOne: NodePool["askOne"] = async (node, { calls, accept }) => {
    try {
      const request = { chainId, timeoutMs: answerMs, maxBytes, signal };
      const value = await accept(await sendToNode(node.url, calls, request), node);
      node.failures = 0;
      node.fault = null;
      return value;
    } catch (error) {
      signal?.throwIfAborted();
      const reason = reasonOf(error);
      node.failures += 1;
      node.fault = reason;
      throw new RpcFailure(`${node.host}: ${reason}`, { cause: error });
    }
  };
  const ask: NodePool["ask"] = async ({ without, forMs, ...question }) => {
    const until = performance.now() + forMs;
    const reasons = new Set<string>();
    for (let pauseMs = pause.firstMs; ; pauseMs = Math.min(pauseMs * 2, pause.mostMs)) {
      for (const node of order(without)) {
        try {
          return await askOne(node, question);
        } catch (error) {
          signal?.throwIfAborted();
          reasons.add(reasonOf(error));
        }
      }
      if (performance.now() + pauseMs > until) {
        const methods = [...new Set(question.calls.map(({ method }) => method))].join(", ");
        throw new RpcFailure(`no node answers ${methods}: ${[...reasons].slice(0, 5).join("; ")}`);
      }
      await delay(pauseMs, undefined, { signal });
    }
  };
  return { chainId, nodes, ask, askOne };
}

/** The result of an answer. Throws `RpcFailure` with the node's reason. */
export function resultOrThrow(answer: RpcResponse | undefined): unknown {
  if (answer !== undefined && "result" in answer) return answer.result;
  throw new RpcFailure(answer?.error.message ?? "no answer");
}
