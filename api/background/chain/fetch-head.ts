import { createPublicClient, type Hex, HttpRequestError } from "viem";
import { countedHttp } from "./count-calls.ts";

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

function openEndpoint(
  url: string,
  { chainId, timeoutMs }: HeadReaderOptions,
): () => Promise<EndpointReading> {
  const endpoint = URL.canParse(url) ? new URL(url).host : "unnamed";
  const client = createPublicClient({
    transport: countedHttp({ chainId, url }, timeoutMs),
  });
  return async () => {
    try {
      const [reportedChainId, block] = await Promise.all([
        client.getChainId(),
        client.getBlock({ blockTag: "latest" }),
      ]);
      if (reportedChainId !== chainId) {
        const message = `${endpoint} serves chain ${reportedChainId}, not ${chainId}`;
        return { endpoint, kind: "wrong_chain", message };
      }
      const { number, hash, timestamp } = block;
      return { endpoint, head: { number: Number(number), hash, timestamp: Number(timestamp) } };
    } catch (error) {
      return faultOf(endpoint, error, timeoutMs);
    }
  };
}

/** viem's messages contain the URL, which may hold a key: only the kind of failure is reported. */
function faultOf(endpoint: string, error: unknown, timeoutMs: number): HeadFault {
  if (error instanceof Error && error.name === "TimeoutError") {
    const message = `${endpoint} did not answer within ${timeoutMs} ms`;
    return { endpoint, kind: "slow", message };
  }
  return { endpoint, kind: "down", message: `${endpoint} ${failureOf(error)}` };
}

function failureOf(error: unknown): string {
  if (!(error instanceof HttpRequestError)) return "gave an invalid response";
  return error.status === undefined ? "is unreachable" : `answered HTTP ${error.status}`;
}
