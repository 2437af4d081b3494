import type { Hex } from "viem";
import { parseBlockHeader } from "./client.ts";
import { sendToNode, WrongChain } from "./node-client.ts";
import { RpcFailure } from "./rpc.ts";

export type Head = { readonly number: number; readonly hash: Hex; readonly timestamp: number };

/** A fault of one RPC endpoint; the message contains neither path nor keys. */
export type HeadFault = {
  readonly endpoint: string;
  readonly kind: "down" | "slow" | "wrong_chain" | "stale";
  readonly message: string;
};

/** The highest head of any RPC of the chain, and the faults of its RPCs. */
export type HeadReading = { readonly head: Head | null; readonly faults: readonly HeadFault[] };

type HeadReaderOptions = {
  chainId: number;
  rpcUrls: readonly string[];
  /** Timeout of an RPC in milliseconds. */
  timeoutMs: number;
  /** Milliseconds a reading is cached. */
  maxAgeMs: number;
  /** Blocks an RPC may lag behind another before it counts as stale. */
  staleBlocks: number;
};

/** Fetches the head from every RPC of a chain. Concurrent callers share one reading. */
export function openHeadReader(options: HeadReaderOptions): () => Promise<HeadReading> {
  const endpoints = options.rpcUrls.map((url) => openEndpoint(url, options));
  let reading: { promise: Promise<HeadReading>; expiresAt: number } | undefined;
  return () => {
    const now = performance.now();
    if (reading !== undefined && now < reading.expiresAt) return reading.promise;
    const fresh = { promise: fetchHighest(endpoints, options.staleBlocks), expiresAt: Infinity };
    reading = fresh;
    void fresh.promise.then(() => {
      fresh.expiresAt = performance.now() + options.maxAgeMs;
    });
    return fresh.promise;
  };
}

type EndpointReading = { endpoint: string; head: Head } | HeadFault;

async function fetchHighest(
  ask: (() => Promise<EndpointReading>)[],
  staleBlocks: number,
): Promise<HeadReading> {
  const readings = await Promise.all(ask.map((endpoint) => endpoint()));
  const heads = readings.filter((one) => "head" in one);
  const highest = heads.toSorted((a, b) => b.head.number - a.head.number)[0]?.head ?? null;
  const stale = heads
    .filter(({ head }) => highest !== null && highest.number - head.number > staleBlocks)
    .map(({ endpoint, head }): HeadFault => {
      const message = `${endpoint} is at block ${head.number}, another at ${highest?.number}`;
      return { endpoint, kind: "stale", message };
    });
  return { head: highest, faults: [...readings.filter((one) => "kind" in one), ...stale] };
}

const maxBytes = 1024 * 1024;

/** Asks in the way in which orders are checked: a node without batches is as good, one of another chain is not. */
function openEndpoint(
  url: string,
  { chainId, timeoutMs }: HeadReaderOptions,
): () => Promise<EndpointReading> {
  const endpoint = URL.canParse(url) ? new URL(url).host : "unnamed";
  const calls = [{ method: "eth_getBlockByNumber", params: ["latest", false] }];
  return async () => {
    try {
      const answers = await sendToNode(url, calls, { chainId, timeoutMs, maxBytes });
      const header = parseBlockHeader(chainId, answers[0], "latest");
      if (header === null) throw new RpcFailure("no newest block");
      const { number, hash, timestamp } = header;
      const head = { number: Number(number), hash, timestamp: timestamp.getTime() / 1_000 };
      return { endpoint, head };
    } catch (error) {
      return faultOf(endpoint, error, timeoutMs);
    }
  };
}

/** Nodes' own texts may hold anything: only the kind of failure is reported. */
function faultOf(endpoint: string, error: unknown, timeoutMs: number): HeadFault {
  const fault = (kind: HeadFault["kind"], what: string): HeadFault => {
    return { endpoint, kind, message: `${endpoint} ${what}` };
  };
  if (error instanceof WrongChain) return fault("wrong_chain", error.message);
  if (error instanceof Error && error.name === "TimeoutError") {
    return fault("slow", `did not answer within ${timeoutMs} ms`);
  }
  if (!(error instanceof RpcFailure)) return fault("down", "is unreachable");
  const [status] = /^HTTP \d{3}/.exec(error.message) ?? [];
  return fault("down", status === undefined ? "gave an invalid response" : `answered ${status}`);
}
