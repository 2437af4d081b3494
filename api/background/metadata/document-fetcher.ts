import { Agent } from "undici";
import { gatewayUrl, type Location, locate } from "#projections/domain/metadata/location.ts";
import { undoCodings } from "./content-codings.ts";
import { createCooldowns } from "./cooldowns.ts";
import { type Document, type DocumentFault, fetchDocumentAt, isPicture, type Limits, type Route } from "./fetch-document.ts";
import { createHostQueue } from "./host-queue.ts";
import { publicLookup, type Resolve, resolveBySystem } from "./public-dns-lookup.ts";
import { urlRefusalReason } from "./url-policy.ts";

type FetcherOptions = {
  /** Tried in order, with the paths `ipfs/…` and `ipns/…`. Set by the operator, so they may be local. */
  ipfsGateways: readonly string[];
  arweaveGateway: string;
  limits?: Partial<Limits>;
  resolve?: Resolve;
  now?: () => number;
  /** Origins allowed although not public: stand-ins on a loopback address. */
  allowedOrigins?: readonly string[];
};

/** A document, or why there is none; undefined while its hosts are cooling down. */
type FetchResult = Document | { fault: string } | undefined;

/** Milliseconds in which requests were made, without waiting for their turn. */
export type FetchCost = { ms: number };

export type DocumentFetcher = {
  /** Fetches an untrusted URI within the limits and adds to its cost. Resolves with a fault when aborted. */
  fetchDocument(uri: string, signal: AbortSignal, cost?: FetchCost): Promise<FetchResult>;
  close(): Promise<void>;
};

const maxRequests = 16;
const requestsPerHost = 4;
const defaultLimits: Limits = { timeoutMs: 10_000, bytes: 1024 * 1024, redirects: 3 };
/** Maximum URLs tried for one document. */
const maxAddresses = 3;

const hostCooldown = { failuresUntilCooldown: 3, initialMs: 60_000, maxMs: 3_600_000 };

type Address = { url: URL; isGateway: boolean };

/** Fetches untrusted URIs: only from public addresses, with limited concurrency in total and per host. */
export function openDocumentFetcher(options: FetcherOptions): DocumentFetcher {
  const limits = { ...defaultLimits, ...options.limits };
  const guarded = openAgent(limits, {
    lookup: publicLookup(options.resolve ?? resolveBySystem),
  });
  const trusted = openAgent(limits, {});
  const allowed = new Set(options.allowedOrigins);
  const queue = createHostQueue(maxRequests, requestsPerHost);
  const cooldowns = createCooldowns<string>({ now: options.now ?? Date.now, ...hostCooldown });

  function routeOf({ url: first, isGateway }: Address): Route {
    return (url) => {
      // Only the gateway itself is trusted, not its redirect targets.
      if ((isGateway && url === first) || allowed.has(url.origin)) return trusted;
      return urlRefusalReason(url) === null ? guarded : undefined;
    };
  }

  async function tryAddress(
    address: Address,
    signal: AbortSignal,
    cost: FetchCost,
  ): Promise<Document | DocumentFault | null> {
    const { host } = address.url;
    return await queue.run(host, async () => {
      if (cooldowns.isCoolingDown(host)) return null;
      const startedAt = performance.now();
      const found = await fetchDocumentAt(address.url, routeOf(address), limits, signal);
      cost.ms += performance.now() - startedAt;
      if ("fault" in found && needsCooldown(found, address))
        cooldowns.recordFailure(host, found.retryAfterMs);
      if (!("fault" in found) || found.cause === "document") cooldowns.recordSuccess(host);
      return found;
    });
  }

  async function tryAll(
    addresses: readonly Address[],
    signal: AbortSignal,
    cost: FetchCost,
  ): Promise<FetchResult> {
    const faults: string[] = [];
    for (const address of addresses) {
      const found = await tryAddress(address, signal, cost);
      if (found === null) continue;
      if (!("fault" in found)) return found;
      faults.push(`${address.url.host}: ${found.fault}`);
    }
    return faults.length === 0 ? undefined : { fault: faults.join("; ") };
  }

  return {
    async fetchDocument(uri, signal, cost = { ms: 0 }) {
      const location = locate(uri);
      if (typeof location === "string") return { fault: location };
      if (location.kind === "data") return await inlineDocument(location, limits.bytes);
      const addresses = addressesOf(location, options);
      if (addresses.length === 0) return { fault: "no gateway for the URI" };
      return await tryAll(addresses.slice(0, maxAddresses), signal, cost);
    },
    async close() {
      await Promise.all([guarded.destroy(), trusted.destroy()]);
    },
  };
}

/**
 * A gateway is slow for content that nobody provides, which is not the gateway's fault. An unreachable ordinary host
 * fails at once, which costs nothing.
 */
function needsCooldown({ cause }: DocumentFault, { isGateway }: Address): boolean {
  return cause === "busy" || cause === (isGateway ? "unreachable" : "slow");
}

function openAgent(limits: Limits, connect: { lookup?: ReturnType<typeof publicLookup> }): Agent {
  return new Agent({
    connect: { ...connect, timeout: limits.timeoutMs },
    connections: requestsPerHost,
    keepAliveTimeout: 4_000,
    keepAliveMaxTimeout: 10_000,
    headersTimeout: limits.timeoutMs,
    bodyTimeout: limits.timeoutMs,
    maxHeaderSize: 16_384,
  });
}

async function inlineDocument(
  { mediaType, charset, bytes }: Extract<Location, { kind: "data" }>,
  limit: number,
): Promise<FetchResult> {
  if (isPicture(mediaType)) return { mediaType, bytes: new Uint8Array() };
  if (bytes.length > limit) return { fault: `the document is larger than ${limit} bytes` };
  const plain = await undoCodings(bytes, "", limit);
  if (typeof plain === "string") return { fault: plain };
  return { mediaType, ...(charset && { charset }), bytes: plain };
}

function addressesOf(
  location: Exclude<Location, { kind: "data" }>,
  options: FetcherOptions,
): Address[] {
  if (location.kind !== "web") return behindGateways(location, options);
  const gateways = location.content === null ? [] : behindGateways(location.content, options);
  const { href } = location.url;
  // Where the URI's own host is one of our gateways it is asked as such.
  return gateways.some(({ url }) => url.href === href)
    ? gateways
    : [{ url: location.url, isGateway: false }, ...gateways];
}

function behindGateways(
  { kind, path }: { kind: "ipfs" | "arweave"; path: string },
  { ipfsGateways, arweaveGateway }: FetcherOptions,
): Address[] {
  return (kind === "ipfs" ? ipfsGateways : [arweaveGateway]).flatMap((gateway) => {
    const url = gatewayUrl(gateway, path);
    return url === null ? [] : [{ url, isGateway: true }];
  });
}
