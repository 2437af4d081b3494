import { setMaxListeners } from "node:events";
import {
  type Database,
  type DatabaseOptions,
  openDatabase,
} from "../../../projections/database.ts";
import { acquireLeadership, type Leadership, type LeaseTable, leaseMs } from "./leader.ts";
import type { RoleContext, RunningRole } from "./role.ts";

/** Passed to the work of the process that leads a role. */
export type LeaderContext = {
  context: RoleContext;
  db: Database;
  leadership: Leadership;
  /** Aborted when the role is to stop, or another process may hold the lease. */
  signal: AbortSignal;
  /** Called once the role does its work. */
  onReady: () => void;
};

type LeaderRole = {
  name: string;
  /** Default: the role's own in `ops.lease`. */
  lease?: { readonly role: string; readonly table: LeaseTable };
  connections: number;
  /** Resolves after `signal` is aborted. */
  work: (runAsLeader: LeaderContext) => Promise<void>;
};

/** Opens a pool of a role's: a transaction in which the process stops working ends no later than its lease. */
export function openRoleDatabase(
  { config, logger }: RoleContext,
  options: Pick<DatabaseOptions, "applicationName" | "max" | "connectionTimeoutMs">,
): Database {
  return openDatabase({
    url: config.database.url,
    prepares: true,
    pipelines: true,
    idleInTransactionTimeoutMs: leaseMs,
    onIdleError: (error) => logger.warn({ err: error }, "database connection lost"),
    ...options,
  });
}

/** Runs a role of which one process works while others are standbys. It fails when its lease is lost. */
export function runLeaderRole(
  context: RoleContext,
  { name, lease = { role: name, table: "ops.lease" }, connections, work }: LeaderRole,
): RunningRole {
  const { config, logger } = context;
  const { url } = config.database;
  const db = openRoleDatabase(context, { applicationName: name, max: connections });
  const ending = new AbortController();
  const stopping = AbortSignal.any([context.signal, ending.signal]);
  let onReady = () => {};
  const ready = new Promise<void>((resolve) => {
    onReady = resolve;
  });
  const led = async () => {
    const leadership = await acquireLeadership({ url, ...lease, logger, signal: stopping });
    if (leadership === null) return;
    const signal = AbortSignal.any([stopping, leadership.signal]);
    // Each loop of the role adds a listener while it waits.
    setMaxListeners(0, signal);
    try {
      await Promise.race([leadership.lost, work({ context, db, leadership, signal, onReady })]);
    } finally {
      await leadership.release();
    }
  };
  const finished = led();
  const failed = finished.then(() => new Promise<never>(() => {}));
  const readyOrFailed = Promise.race([ready, failed]);
  // Not everyone waits for both.
  for (const one of [failed, readyOrFailed]) one.catch(() => undefined);
  return {
    ready: readyOrFailed,
    failed,
    async stop() {
      ending.abort();
      await finished.catch(() => undefined);
      await db.destroy();
    },
  };
}
