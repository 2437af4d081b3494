import { setTimeout as delay } from "node:timers/promises";
import type { BlockHeader } from "../block-header.ts";
import { requestAt } from "../contract-calls.ts";
import type { RpcCall, RpcResponse } from "../rpc.ts";
import type { RpcTarget } from "../rpc-batch.ts";

/** A request is late if an empty one takes less than this part of its time meanwhile: else the node is slow. */
const slowFactor = 10;

/** The node answers others, but not these calls. */
export class LateAnswer extends Error {
  override name = "LateAnswer";
}

/**
 * Requests calls of contracts that may keep the node busy. Late answers are given up after a third of the timeout, twice
 * (at first at the first endpoint, then at the next one): throws `LateAnswer`. On a slow node nothing is late.
 */
export async function requestInTime(
  target: RpcTarget,
  basis: BlockHeader,
  calls: readonly RpcCall[],
  maxBytes?: number,
): Promise<RpcResponse[]> {
  try {
    return await requestUntilLate(target, basis, calls, maxBytes);
  } catch (error) {
    if (!(error instanceof LateAnswer)) throw error;
    const [first, ...others] = target.rpcUrls;
    const rpcUrls = first === undefined ? others : [...others, first];
    return await requestUntilLate({ ...target, rpcUrls }, basis, calls, maxBytes);
  }
}

async function requestUntilLate(
  target: RpcTarget,
  basis: BlockHeader,
  calls: readonly RpcCall[],
  maxBytes?: number,
): Promise<RpcResponse[]> {
  const late = new AbortController();
  const ended = new AbortController();
  untilLate(target, basis, ended.signal).then(
    () => late.abort(new LateAnswer(`Chain ${target.chainId} is late with some calls only`)),
    // The node answers nothing: the contracts are not to blame.
    () => {},
  );
  try {
    return await requestAt({ ...target, signal: late.signal }, basis, calls, maxBytes);
  } finally {
    ended.abort();
  }
}

async function untilLate(target: RpcTarget, basis: BlockHeader, ended: AbortSignal): Promise<void> {
  const startedAt = performance.now();
  let emptyMs = Number.POSITIVE_INFINITY;
  while (performance.now() - startedAt <= slowFactor * emptyMs) {
    await delay(target.timeoutMs / 3, undefined, { signal: ended });
    emptyMs = await emptyRequestMs({ ...target, signal: ended }, basis);
  }
}

/** Whether calls took long while the node is quick: false if it is slow or does not answer at all. */
export async function isSlowerThanNode(
  target: RpcTarget,
  basis: BlockHeader,
  ms: number,
): Promise<boolean> {
  return await emptyRequestMs(target, basis).then(
    (emptyMs) => ms > slowFactor * emptyMs,
    () => false,
  );
}

async function emptyRequestMs(target: RpcTarget, basis: BlockHeader): Promise<number> {
  const startedAt = performance.now();
  await requestAt(target, basis, []);
  return performance.now() - startedAt;
}
