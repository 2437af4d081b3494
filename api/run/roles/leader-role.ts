import { setMaxListeners } from "node:events";
import { type Database, openDatabase } from "../../../projections/database.ts";
import { acquireLeadership, type Leadership, leaseMs } from "./leader.ts";
import type { RoleContext, Running } from "./role.ts";

/** What the process that leads a role works with. */
export type LeaderContext = {
  context: RoleContext;
  db: Database;
  leadership: Leadership;
  /** Aborted when the role is told to end, or may be another's by now. */
  signal: AbortSignal;
  /** Tells that the role does its work. */
  onReady: () => void;
};

type LeaderRole = {
  name: string;
  connections: number;
  /** Settles after `signal` is aborted. */
  work: (runAsLeader: LeaderContext) => Promise<void>;
};

/** Runs a role of which one process works while others stand by. It fails when its lease is lost. */
export function runLeaderRole(
  context: RoleContext,
  { name, connections, work }: LeaderRole,
): Running {
  const { config, logger } = context;
  const { url } = config.database;
  const db = openDatabase({
    url,
    applicationName: name,
    max: connections,
    prepares: true,
    idleInTransactionTimeoutMs: leaseMs,
    onIdleError: (error) => logger.warn({ err: error }, "a database connection was lost"),
  });
  const ending = new AbortController();
  const stopping = AbortSignal.any([context.signal, ending.signal]);
  let onReady = () => {};
  const ready = new Promise<void>((resolve) => {
    onReady = resolve;
  });
  const led = async () => {
    const leadership = await acquireLeadership({ url, role: name, logger, signal: stopping });
    if (leadership === null) return;
    const signal = AbortSignal.any([stopping, leadership.signal]);
    // Each of the role's loops listens while it waits.
    setMaxListeners(0, signal);
    try {
      await Promise.race([leadership.lost, work({ context, db, leadership, signal, onReady })]);
    } finally {
      await leadership.release();
    }
  };
  const finished = led();
  const failed = finished.then(() => new Promise<never>(() => {}));
  failed.catch(() => undefined);
  return {
    ready: Promise.race([ready, failed]),
    failed,
    async stop() {
      ending.abort();
      await finished.catch(() => undefined);
      await db.destroy();
    },
  };
}
