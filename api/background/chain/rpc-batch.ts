import { setTimeout as delay } from "node:timers/promises";
import { sendToNode } from "./node-client.ts";
import { ResponseTooLarge, type RpcCall, RpcFailure, type RpcResponse, reasonOf } from "./rpc.ts";

/** RPC endpoints of a chain, tried in order. */
export type RpcTarget = {
  readonly chainId: number;
  readonly rpcUrls: readonly string[];
  readonly timeoutMs: number;
  /** Ends all attempts, with its reason. */
  readonly signal?: AbortSignal;
};

const callsPerRequest = 100;
export const maxResponseBytes = 8 * 1024 * 1024;
const maxRounds = 3;
const pauseMs = 250;

/**
 * Sends calls, up to a hundred in one HTTP request where the node takes so many; requests prove the endpoint's chain id.
 * `maxBytes` limits the response of each request. Throws `RpcFailure` unless every call has a response, which may be a
 * node's error.
 */
export async function requestBatch(
  target: RpcTarget,
  calls: readonly RpcCall[],
  maxBytes = maxResponseBytes,
): Promise<RpcResponse[]> {
  const answers: RpcResponse[] = [];
  for (let start = 0; start < calls.length; start += callsPerRequest) {
    const part = calls.slice(start, start + callsPerRequest);
    answers.push(...(await requestOnce(target, part, maxBytes)));
  }
  return answers;
}

async function requestOnce(
  target: RpcTarget,
  calls: readonly RpcCall[],
  maxBytes: number,
): Promise<RpcResponse[]> {
  const failures: string[] = [];
  for (let round = 0; round < maxRounds; round++) {
    if (round > 0) await delay(pauseMs * 2 ** (round - 1));
    const answers = await requestFromAny(target, calls, { maxBytes, failures });
    if (answers !== null) return answers;
  }
  const methods = [...new Set(calls.map(({ method }) => method))].join(", ");
  throw new RpcFailure(
    `Chain ${target.chainId} did not answer ${methods}: ${[...new Set(failures)].join("; ")}`,
  );
}

/** Null: none of the endpoints answered; why is added to `failures`. */
async function requestFromAny(
  target: RpcTarget,
  calls: readonly RpcCall[],
  { maxBytes, failures }: { maxBytes: number; failures: string[] },
): Promise<RpcResponse[] | null> {
  const { chainId, timeoutMs, signal } = target;
  for (const url of target.rpcUrls) {
    signal?.throwIfAborted();
    try {
      return await sendToNode(url, calls, { chainId, timeoutMs, maxBytes, signal });
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof ResponseTooLarge) throw error;
      failures.push(`${new URL(url).host}: ${reasonOf(error)}`);
    }
  }
  return null;
}
