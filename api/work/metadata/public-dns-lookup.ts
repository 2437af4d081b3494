import { lookup } from "node:dns/promises";
import type { LookupFunction } from "node:net";
import { isPublicAddress } from "./public-address.ts";

type Resolved = { address: string; family: number };

/** Every address of a host name. */
export type Resolve = (hostname: string) => Promise<Resolved[]>;

export const resolveBySystem: Resolve = (hostname) => lookup(hostname, { all: true });

/** A name that leads to something other than the public internet. */
export class NotPublic extends Error {
  override name = "NotPublic";
}

/**
 * Resolves a name for the connection that is about to be made: to exactly the addresses that were looked at, so that a
 * second answer of the name's server changes nothing. One address that is not public condemns the name.
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
  if (first === undefined) throw new NotPublic(`${hostname} has no address`);
  const found: [Resolved, ...Resolved[]] = [first, ...others];
  if (!found.every(({ address }) => isPublicAddress(address))) {
    throw new NotPublic(`${hostname} is not on the public internet`);
  }
  return found;
}
