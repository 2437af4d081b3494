import type { Logger } from "pino";
import type { Address } from "viem";
import type { DatabaseAddress } from "../../../projections/database.ts";
import type { Config } from "../config/config.ts";

type DatabaseSettings = Pick<
  Config["database"],
  "replicas" | "maxReplicaLagSeconds" | "poolerUrl"
> & {
  /** Absent: the database of the chains holds the accounts, too. */
  readonly accountsUrl?: string | null;
};

export type RoleDatabase = Omit<DatabaseSettings, "accountsUrl"> & {
  /** For what needs sessions of its own. */
  readonly url: string;
  /** For what requests read and write: the same, or a pooler in front of it. */
  readonly requests: DatabaseAddress;
  /** Of accounts, keys and limits. */
  readonly accounts: { readonly url: string; readonly requests: DatabaseAddress };
};

export function roleDatabase(
  { replicas, maxReplicaLagSeconds, poolerUrl, ...others }: DatabaseSettings,
  url: string,
): RoleDatabase {
  const accountsUrl = others.accountsUrl ?? url;
  const requests = poolerUrl === null ? { url } : { url: poolerUrl, isPooled: true };
  const accounts =
    accountsUrl === url ? { url, requests } : { url: accountsUrl, requests: { url: accountsUrl } };
  return { url, requests, poolerUrl, replicas, maxReplicaLagSeconds, accounts };
}

/** The configuration of a role: database and fee recipient are known, set by the operator or by the supervisor. */
export type RoleConfig = Omit<Config, "database" | "fees"> & {
  database: RoleDatabase;
  fees: { bps: number; recipient: Address };
};

/** A database, and the chains that it may serve. Which it serves, `homes` tells. */
export type RoleCell = { readonly name: string; readonly config: RoleConfig };
export type SomeRoleCells = readonly [RoleCell, ...RoleCell[]];

/** Passed to a role. Every role runs in its own process. */
export type RoleContext = {
  config: RoleConfig;
  /** The databases of all chains, for roles that serve several; absent: there is one. */
  cells?: SomeRoleCells;
  /** The one that it works in; absent: the main one. */
  cell?: string;
  logger: Logger;
  /** Aborted when the process is to stop. */
  signal: AbortSignal;
};

export type RunningRole = {
  /** Resolves when the role does its work. */
  ready: Promise<void>;
  /** Stops the work in order and closes everything. */
  stop(): Promise<void>;
  /** Rejects when the role cannot continue; the process then exits and is restarted. */
  failed: Promise<never>;
};
