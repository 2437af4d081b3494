import { mainCell } from "../../../projections/log/cells/main-cell.ts";
import type { AnalyticsConfig, AnalyticsPlaces } from "../config/analytics-settings.ts";
import type { ChainConfig } from "../config/chain-config.ts";
import type { Config } from "../config/config.ts";
import { type RoleDatabase, roleDatabase } from "./role.ts";

/** A database with logs of chains, and the chains that it may serve. */
export type CellConfig = {
  /** `main`, or the id of the only chain. */
  readonly name: string;
  readonly database: RoleDatabase;
  readonly chains: readonly ChainConfig[];
  /** Where its log is copied to. */
  readonly analytics: AnalyticsConfig;
};

/** A database of accounts that has no chain. */
export const accountsCell = "accounts";

/**
 * The databases that are configured: one that may hold every chain, and those of single chains. `processUrl` is the
 * address of a process with a user of its own, who is the same in all of them.
 */
export function configuredCells(
  { database, chains, analytics }: Pick<Config, "database" | "chains" | "analytics">,
  url: string,
  processUrl: string | null = null,
): [CellConfig, ...CellConfig[]] {
  const { ofChains, maxReplicaLagSeconds, accountsUrl: given } = database;
  const accountsUrl = given && asUserOf(processUrl, given);
  const settingsOf = (one: { poolerUrl: string | null; replicas: RoleDatabase["replicas"] }) => ({
    poolerUrl: one.poolerUrl,
    replicas: one.replicas,
    maxReplicaLagSeconds,
    accountsUrl: accountsUrl ?? processUrl ?? url,
  });
  // Without DATABASE_URL the main one is the first of the others, by its own settings.
  const same = ofChains.find((one) => isSameDatabase(one.url, url));
  const main = database.poolerUrl === null && database.replicas.length === 0 ? same : undefined;
  const others = ofChains.filter((one) => !isSameDatabase(one.url, url));
  return [
    {
      name: mainCell,
      database: roleDatabase(settingsOf(main ?? database), processUrl ?? url),
      chains,
      analytics: same === undefined ? analytics : withPlaces(analytics, same.analytics),
    },
    ...others.map((one) => ({
      name: `${one.chainId}`,
      database: roleDatabase(settingsOf(one), asUserOf(processUrl, one.url)),
      chains: chains.filter(({ chainId }) => chainId === one.chainId),
      // A replica of another database has another log.
      analytics: { ...withPlaces(analytics, one.analytics), readUrl: one.analytics.readUrl },
    })),
  ];
}

/** Places of its own before those of all. */
const withPlaces = (all: AnalyticsConfig, own: AnalyticsPlaces): AnalyticsConfig => ({
  ...all,
  clickhouseUrl: own.clickhouseUrl ?? all.clickhouseUrl,
  duckdbFile: own.duckdbFile ?? all.duckdbFile,
  readUrl: own.readUrl ?? all.readUrl,
});

/** Whether two addresses lead to one database, whoever uses them. */
export function isSameDatabase(one: string, other: string): boolean {
  const placeOf = (text: string) => {
    const { hostname, port, pathname, searchParams } = new URL(text);
    return [hostname || searchParams.get("host"), port || "5432", pathname].join(" ");
  };
  return placeOf(one) === placeOf(other);
}

/** An address as the user of another one. */
export function asUserOf(processUrl: string | null, url: string): string {
  if (processUrl === null) return url;
  const [own, address] = [new URL(processUrl), new URL(url)];
  address.username = own.username;
  address.password = own.password;
  return address.href;
}
