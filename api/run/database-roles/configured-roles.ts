import type { Config } from "#ops/config/config.ts";
import { type DatabaseRoles, forEachRole } from "./database-roles.ts";

/** The settings of the database's addresses, without those that are not set. */
export type DatabaseAddresses = { DATABASE_URL: string } & Record<string, string>;

export function addressesOf({
  url,
  adminUrl,
  processUrls,
}: Pick<Config["database"], "adminUrl" | "processUrls"> & { url: string }): DatabaseAddresses {
  const named = Object.entries({ ...processUrls, admin: adminUrl });
  const others = named.flatMap(([name, value]) =>
    value === null ? [] : [[`DATABASE_URL_${name.toUpperCase()}`, value]],
  );
  return { DATABASE_URL: url, ...Object.fromEntries(others) };
}

/** The roles that the addresses name; without one, a process has the owner's. */
export function configuredRoles(addresses: DatabaseAddresses): DatabaseRoles {
  const owner = userOf(addresses.DATABASE_URL);
  return forEachRole((process) => {
    const url = addresses[`DATABASE_URL_${process.toUpperCase()}`];
    return url === undefined ? owner : userOf(url);
  });
}

function userOf(url: string): string {
  const { username, searchParams } = new URL(url);
  return decodeURIComponent(username) || (searchParams.get("user") ?? "postgres");
}
