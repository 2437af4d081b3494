import { lookup } from "node:dns/promises";
import { BlockList, isIP, isIPv4, isIPv6, type LookupFunction } from "node:net";

const ports = new Set(["", "8443"]);

/**
 * Why an untrusted URL is not fetched; null if it is allowed. Host names are checked again when resolved. `URL` has
 * already normalised every notation of an IP address.
 */
export function urlRefusalReason(url: URL): string | null {
  if (url.protocol !== "https:") return `${url.protocol} is not allowed`;
  if (url.username !== "" || url.password !== "") return "credentials in a URL are not allowed";
  if (!ports.has(url.port)) return `port ${url.port} is not allowed`;
  const host = url.hostname.replace(/^\[|\]$/g, "");
  if (isIP(host) !== 0 && !isPublicAddress(host)) return `${host} is not on the public internet`;
  return null;
}

type Resolved = { address: string; family: number };

/** Every address of a host name. */
export type Resolve = (hostname: string) => Promise<Resolved[]>;

export const resolveBySystem: Resolve = (hostname) => lookup(hostname, { all: true });

/** A host name with an address that is not public. */
export class NotPublicError extends Error {
  override name = "NotPublic";
}

/**
 * DNS lookup that passes exactly the checked addresses to the connection, so that a second DNS answer has no effect
 * (DNS rebinding). One address that is not public rejects the name.
 */
export function publicLookup(resolve: Resolve): LookupFunction {
  return (hostname, options, callback) => {
    resolvePublic(resolve, hostname).then(
      (found) => {
        const [first] = found;
        if (options.all === true) callback(null, found);
        else callback(null, first.address, first.family);
      },
      (error: NodeJS.ErrnoException) => callback(error, []),
    );
  };
}

async function resolvePublic(
  resolve: Resolve,
  hostname: string,
): Promise<[Resolved, ...Resolved[]]> {
  const [first, ...others] = await resolve(hostname);
  if (first === undefined) throw new NotPublicError(`${hostname} has no address`);
  const found: [Resolved, ...Resolved[]] = [first, ...others];
  if (!found.every(({ address }) => isPublicAddress(address))) {
    throw new NotPublicError(`${hostname} is not on the public internet`);
  }
  return found;
}

/** IPv4 ranges that are not public: IANA's special-purpose registry, multicast and reserved. */
const specialIpv4 = new BlockList();
for (const [network, bits] of [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.31.196.0", 24],
  ["192.52.193.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["192.175.48.0", 24],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
] as const) {
  specialIpv4.addSubnet(network, bits, "ipv4");
}

/** Global unicast; mapped and translated IPv4, unique local and link-local addresses are outside of it. */
const globalIpv6 = new BlockList();
globalIpv6.addSubnet("2000::", 3, "ipv6");

/** Exceptions within it: tunnels (which may end anywhere), documentation and experiments. */
const specialIpv6 = new BlockList();
for (const [network, bits] of [
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["2620:4f:8000::", 48],
  ["3ffe::", 16],
  ["3fff::", 20],
] as const) {
  specialIpv6.addSubnet(network, bits, "ipv6");
}

/** Whether an IP address is public. False for anything else. */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !specialIpv4.check(address, "ipv4");
  if (!isIPv6(address) || address.includes("%")) return false;
  return globalIpv6.check(address, "ipv6") && !specialIpv6.check(address, "ipv6");
}
