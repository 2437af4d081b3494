import { lookup } from "node:dns/promises";
import type { LookupFunction } from "node:net";
import { isPublicAddress } from "./public-address.ts";

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
