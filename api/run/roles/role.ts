import type { Logger } from "pino";
import type { Address } from "viem";
import type { Config } from "../config/config.ts";

/** The configuration of a role: database and fee are known, whether named by the operator or by the supervisor. */
export type RoleConfig = Omit<Config, "database" | "fees"> & {
  database: { url: string; readUrl: string };
  fees: { bps: number; recipient: Address };
};

/** What one part of the service gets; every role runs in a process of its own. */
export type RoleContext = {
  config: RoleConfig;
  logger: Logger;
  /** Aborted when the process is told to end. */
  signal: AbortSignal;
};

export type Running = {
  /** Settles when the role does its work. */
  ready: Promise<void>;
  /** Ends the work in order and gives everything back. */
  stop(): Promise<void>;
  /** Rejects when the role cannot go on; the process then ends and is started anew. */
  failed: Promise<never>;
};
