import { Agent } from "undici";
import { type Location, locate } from "../../../projections/domain/metadata/location.ts";
import {
  type Document,
  type Fault,
  getDocument,
  isPicture,
  type Limits,
  type Route,
} from "./fetch-document.ts";
import { createHostQueue } from "./host-queue.ts";
import { createHostRests } from "./host-cooldowns.ts";
import { publicLookup, type Resolve, resolveBySystem } from "./public-dns-lookup.ts";
import { whyRefused } from "./url-policy.ts";

type FetcherOptions = {
  /** Tried in order; paths `ipfs/…` and `ipns/…` are asked below them. They are the operator's and may be local. */
  ipfsGateways: readonly string[];
  arweaveGateway: string;
  limits?: Partial<Limits>;
  resolve?: Resolve;
  now?: () => number;
  /** Origins that are asked although they are not public: stand-ins on a loopback address. */
  allowedOrigins?: readonly string[];
};

/** A document; or why there is none; or nothing, where whoever has it is not asked at the moment. */
type Fetched = Document | { fault: string } | undefined;

export type DocumentFetcher = {
  /** Fetches what a contract named, within the limits. Aborted, it settles with a fault. */
  fetchDocument(uri: string, signal: AbortSignal): Promise<Fetched>;
  close(): Promise<void>;
};

const requestsAtOnce = 16;
const requestsPerHost = 4;
const defaultLimits: Limits = { timeoutMs: 10_000, bytes: 1024 * 1024, redirects: 3 };
/** Addresses of one document that are tried. */
const mostAddresses = 3;

type Address = { url: URL; isGateway: boolean };

/** Fetches documents that strangers named: none from a network that is not public, few at once, and few from one host. */
export function openDocumentFetcher(options: FetcherOptions): DocumentFetcher {
  const limits = { ...defaultLimits, ...options.limits };
  const guarded = openAgent(limits, {
    lookup: publicLookup(options.resolve ?? resolveBySystem),
  });
  const trusted = openAgent(limits, {});
  const allowed = new Set(options.allowedOrigins);
  const queue = createHostQueue(requestsAtOnce, requestsPerHost);
  const rests = createHostRests(options.now ?? Date.now);

  function routeOf({ url: first, isGateway }: Address): Route {
    return (url) => {
      // Where a gateway redirects to is no longer the operator's choice.
      if ((isGateway && url === first) || allowed.has(url.origin)) return trusted;
      return whyRefused(url) === null ? guarded : undefined;
    };
  }

  async function tryAddress(
    address: Address,
    signal: AbortSignal,
  ): Promise<Document | Fault | null> {
    const { host } = address.url;
    return await queue.run(host, async () => {
      if (rests.isResting(host)) return null;
      const found = await getDocument(address.url, routeOf(address), limits, signal);
      if ("fault" in found && needsRest(found, address)) rests.noteFailure(host, found.restMs);
      if (!("fault" in found) || found.cause === "document") rests.noteAnswer(host);
      return found;
    });
  }

  async function tryAll(addresses: readonly Address[], signal: AbortSignal): Promise<Fetched> {
    const faults: string[] = [];
    for (const address of addresses) {
      const found = await tryAddress(address, signal);
      if (found === null) continue;
      if (!("fault" in found)) return found;
      faults.push(`${address.url.host}: ${found.fault}`);
    }
    return faults.length === 0 ? undefined : { fault: faults.join("; ") };
  }

  return {
    async fetchDocument(uri, signal) {
      const location = locate(uri);
      if (typeof location === "string") return { fault: location };
      if (location.kind === "data") return inlineDocument(location, limits.bytes);
      const addresses = addressesOf(location, options);
      if (addresses.length === 0) return { fault: "no gateway leads to it" };
      return await tryAll(addresses.slice(0, mostAddresses), signal);
    },
    async close() {
      await Promise.all([guarded.destroy(), trusted.destroy()]);
    },
  };
}

/**
 * A gateway is slow about content that nobody has, which says nothing about the gateway. A host that is gone refuses at
 * once, which costs nothing.
 */
function needsRest({ cause }: Fault, { isGateway }: Address): boolean {
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

function inlineDocument(
  { mediaType, bytes }: Extract<Location, { kind: "data" }>,
  limit: number,
): Fetched {
  if (isPicture(mediaType)) return { mediaType, bytes: new Uint8Array() };
  if (bytes.length > limit) return { fault: `the document is larger than ${limit} bytes` };
  return { mediaType, bytes };
}

function addressesOf(
  location: Exclude<Location, { kind: "data" }>,
  { ipfsGateways, arweaveGateway }: FetcherOptions,
): Address[] {
  const ipfs = (path: string) => ipfsGateways.flatMap((gateway) => behind(gateway, path));
  if (location.kind === "ipfs") return ipfs(location.path);
  if (location.kind === "arweave") return behind(arweaveGateway, location.path);
  const own = { url: location.url, isGateway: false };
  return [own, ...(location.ipfsPath === null ? [] : ipfs(location.ipfsPath))];
}

/** The address of a path below a gateway; none where the path climbs out of it. */
function behind(gateway: string, path: string): Address[] {
  const root = new URL(`${gateway.replace(/\/(?:ipfs\/?)?$/, "")}/`);
  const url = new URL(root.href + path.replaceAll("#", "%23"));
  const [first] = path.split("/");
  const below = `${root.pathname}${first}/`;
  const isBelow = url.origin === root.origin && `${url.pathname}/`.startsWith(below);
  return isBelow ? [{ url, isGateway: true }] : [];
}
