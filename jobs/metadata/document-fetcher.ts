import { Agent } from "undici";
import { gatewayUrl, type Location, locate } from "#projections/domain/metadata/location.ts";
import {
  publicLookup,
  type Resolve,
  resolveBySystem,
  urlRefusalReason,
} from "../public-address.ts";
import { createCooldowns, openTurns } from "../runner/limits.ts";
import {
  type DocumentFault,
  type DocumentLimits,
  type DocumentRoute,
  type FetchedDocument,
  fetchDocumentAt,
  isPage,
  isPicture,
  undoCodings,
} from "./fetch-document.ts";

type FetcherOptions = {
  /** Tried in order, with the paths `ipfs/…` and `ipns/…`. Set by the operator, so they may be local. */
  ipfsGateways: readonly string[];
  arweaveGateway: string;
  limits?: Partial<DocumentLimits>;
  resolve?: Resolve;
  now?: () => number;
  /** Origins allowed although not public: stand-ins on a loopback address. */
  allowedOrigins?: readonly string[];
};

/** A document, or why there is none; undefined while its hosts are cooling down. */
type FetchResult = FetchedDocument | { fault: string } | undefined;

/** Milliseconds in which requests were made, without waiting for their turn; whether hosts of a document are left alone. */
export type FetchCost = { ms: number; isResting: boolean };

export type DocumentFetcher = {
  /** Fetches an untrusted URI within the limits and adds to its cost. Resolves with a fault when aborted. */
  fetchDocument(uri: string, signal: AbortSignal, cost?: FetchCost): Promise<FetchResult>;
  close(): Promise<void>;
};

const maxRequests = 16;
const requestsPerHost = 4;
const defaultLimits: DocumentLimits = {
  timeoutMs: 10_000,
  bytes: 1024 * 1024,
  redirects: 3,
  readsPictures: false,
};
/** Maximum URLs tried for one document. */
const maxAddresses = 3;

const hostCooldown = { failuresUntilCooldown: 3, firstMs: 60_000, mostMs: 3_600_000 };

/** Why an answer is no document. A page is none where the same content is to be had elsewhere; an SVG begins as one does. */
function faultIn(answer: FetchedDocument | DocumentFault, isOnly: boolean): string | null {
  if ("fault" in answer) return answer.fault;
  return !isOnly && isPage(answer) ? "the document is HTML or XML, not JSON" : null;
}

type Address = { url: URL; isGateway: boolean };

/** Fetches untrusted URIs: only from public addresses, with limited concurrency in total and per host. */
export function openDocumentFetcher(options: FetcherOptions): DocumentFetcher {
  const limits = { ...defaultLimits, ...options.limits };
  const guarded = openAgent(limits, {
    lookup: publicLookup(options.resolve ?? resolveBySystem),
  });
  const trusted = openAgent(limits, {});
  const allowed = new Set(options.allowedOrigins);
  const hosts = openTurns({ atOnce: maxRequests, ofCaller: requestsPerHost });
  const cooldowns = createCooldowns<string>({ now: options.now ?? Date.now, ...hostCooldown });

  function routeOf({ url: first, isGateway }: Address): DocumentRoute {
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
  ): Promise<FetchedDocument | DocumentFault | null> {
    const { host } = address.url;
    return await hosts.run(host, async () => {
      if (cooldowns.isCoolingDown(host)) return null;
      const startedAt = performance.now();
      const failures = cooldowns.failures(host);
      const found = await fetchDocumentAt(address.url, routeOf(address), limits, signal);
      cost.ms += performance.now() - startedAt;
      // Of requests that were under way at once, the first counts: one slow moment is one failure.
      const isFirst = cooldowns.failures(host) === failures;
      if ("fault" in found && needsCooldown(found, address) && (isFirst || found.retryAfterMs))
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
      const fault = faultIn(found, addresses.length === 1 || limits.readsPictures);
      if (fault === null && !("fault" in found)) return found;
      faults.push(`${address.url.host}: ${fault}`);
    }
    if (faults.length > 0) return { fault: faults.join("; ") };
    cost.isResting = true;
    return undefined;
  }

  return {
    async fetchDocument(uri, signal, cost = { ms: 0, isResting: false }) {
      const location = locate(uri);
      if (typeof location === "string") return { fault: location };
      if (location.kind === "data") return await inlineDocument(location, limits);
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

function openAgent(
  limits: DocumentLimits,
  connect: { lookup?: ReturnType<typeof publicLookup> },
): Agent {
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
  { bytes: limit, readsPictures }: DocumentLimits,
): Promise<FetchResult> {
  if (isPicture(mediaType) && !readsPictures) return { mediaType, bytes: new Uint8Array() };
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
