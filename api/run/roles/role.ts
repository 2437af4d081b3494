import type { Logger } from "pino";
import type { Address } from "viem";
import type { DatabaseAddress } from "#projections/log/database.ts";
import type { Config } from "#ops/config/config.ts";

type DatabaseSettings = Pick<Config["database"], "replicas" | "maxReplicaLagSeconds" | "poolerUrl">;

export type RoleDatabase = DatabaseSettings & {
  /** For what needs sessions of its own. */
  readonly url: string;
  /** For what requests read and write: the same, or a pooler in front of it. */
  readonly requests: DatabaseAddress;
};

export function roleDatabase(
  { replicas, maxReplicaLagSeconds, poolerUrl }: DatabaseSettings,
  url: string,
): RoleDatabase {
  const requests = poolerUrl === null ? { url } : { url: poolerUrl, isPooled: true };
  return { url, requests, poolerUrl, replicas, maxReplicaLagSeconds };
}

/** The configuration of a role: database and fee recipient are known, set by the operator or by the supervisor. */
export type RoleConfig = Omit<Config, "database" | "fees"> & {
  database: RoleDatabase;
  fees: { bps: number; recipient: Address };
};

/** Passed to a role. Every role runs in its own process. */
export type RoleContext = {
  config: RoleConfig;
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
