import { createPublicClient, type Hex, HttpRequestError, http } from "viem";

export type Head = { readonly number: number; readonly hash: Hex; readonly timestamp: number };

/** What is wrong with one RPC, in words without its path or keys. */
export type HeadFault = {
  readonly endpoint: string;
  readonly kind: "down" | "slow" | "wrong_chain" | "stale";
  readonly message: string;
};

/** The highest head that any RPC of the chain tells, and what is wrong with the RPCs. */
export type HeadReading = { readonly head: Head | null; readonly faults: readonly HeadFault[] };

type Options = {
  chainId: number;
  rpcUrls: readonly string[];
  /** Milliseconds an RPC is given to answer. */
  timeoutMs: number;
  /** Milliseconds a reading is used again. */
  maxAgeMs: number;
  /** Blocks an RPC may be behind another before it is named. */
  staleBlocks: number;
};

/** Asks every RPC of a chain for its head. Callers at the same time share one reading. */
export function openHeadReader(options: Options): () => Promise<HeadReading> {
  const ask = options.rpcUrls.map((url) => openEndpoint(url, options));
  let reading: { promise: Promise<HeadReading>; expiresAt: number } | undefined;
  return () => {
    const now = performance.now();
    if (reading !== undefined && now < reading.expiresAt) return reading.promise;
    const fresh = { promise: readHighest(ask, options.staleBlocks), expiresAt: Infinity };
    reading = fresh;
    void fresh.promise.then(() => {
      fresh.expiresAt = performance.now() + options.maxAgeMs;
    });
    return fresh.promise;
  };
}

type Told = { endpoint: string; head: Head } | HeadFault;

async function readHighest(
  ask: (() => Promise<Told>)[],
  staleBlocks: number,
): Promise<HeadReading> {
  const told = await Promise.all(ask.map((endpoint) => endpoint()));
  const heads = told.filter((one) => "head" in one);
  const highest = heads.toSorted((a, b) => b.head.number - a.head.number)[0]?.head ?? null;
  const stale = heads
    .filter(({ head }) => highest !== null && highest.number - head.number > staleBlocks)
    .map(({ endpoint, head }): HeadFault => {
      const message = `${endpoint} is at block ${head.number}, another at ${highest?.number}`;
      return { endpoint, kind: "stale", message };
    });
  return { head: highest, faults: [...told.filter((one) => "kind" in one), ...stale] };
}

function openEndpoint(url: string, { chainId, timeoutMs }: Options): () => Promise<Told> {
  const endpoint = URL.canParse(url) ? new URL(url).host : "unnamed";
  const client = createPublicClient({
    transport: http(url, { timeout: timeoutMs, retryCount: 0 }),
  });
  return async () => {
    try {
      const [told, block] = await Promise.all([
        client.getChainId(),
        client.getBlock({ blockTag: "latest" }),
      ]);
      if (told !== chainId) {
        const message = `${endpoint} serves chain ${told}, not ${chainId}`;
        return { endpoint, kind: "wrong_chain", message };
      }
      const { number, hash, timestamp } = block;
      return { endpoint, head: { number: Number(number), hash, timestamp: Number(timestamp) } };
    } catch (error) {
      return faultOf(endpoint, error, timeoutMs);
    }
  };
}

/** viem's messages quote the URL, which may hold a key: only the kind of failure is told. */
function faultOf(endpoint: string, error: unknown, timeoutMs: number): HeadFault {
  if (error instanceof Error && error.name === "TimeoutError") {
    const message = `${endpoint} gave no answer within ${timeoutMs} ms`;
    return { endpoint, kind: "slow", message };
  }
  return { endpoint, kind: "down", message: `${endpoint} ${failureOf(error)}` };
}

function failureOf(error: unknown): string {
  if (!(error instanceof HttpRequestError)) return "gave an answer that cannot be read";
  return error.status === undefined ? "cannot be reached" : `answered HTTP ${error.status}`;
}
