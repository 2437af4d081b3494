import { setMaxListeners } from "node:events";
import { type Database, type DatabaseOptions, openDatabase } from "#projections/log/database.ts";
import { DatabaseUnavailable } from "#projections/log/database-failure.ts";
import { backOff, sleep } from "#jobs/runner/back-off.ts";
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

/** After work that lasted so long its next end counts as the first. */
const steadyMs = 60_000;

type LeaderRole = {
  name: string;
  /** Default: the role's own in `ops.lease`. */
  lease?: { readonly role: string; readonly table: LeaseTable };
  connections: number;
  /** Settles once `signal` is aborted and everything that it began has ended. */
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

/**
 * Work that ends is waited for so long: when the role stops, and when its lease is lost, which a busy machine makes happen
 * and on which a last statement takes its time.
 */
const stopMs = 2_000;
const loseMs = 10_000;

/**
 * Runs a role of which one process works while others are standbys. One that lost its lease is a standby again once its
 * work has ended; so is one whose work the database failed. The role fails by other faults of its work.
 */
export function runLeaderRole(context: RoleContext, role: LeaderRole): RunningRole {
  const db = openRoleDatabase(context, { applicationName: role.name, max: role.connections });
  const ending = new AbortController();
  const stopping = AbortSignal.any([context.signal, ending.signal]);
  let onReady = () => {};
  const ready = new Promise<void>((resolve) => {
    onReady = resolve;
  });
  const finished = standAndLead({ context, db, stopping, onReady }, role);
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

type Standing = Pick<LeaderContext, "context" | "db" | "onReady"> & { stopping: AbortSignal };

async function standAndLead(standing: Standing, role: LeaderRole): Promise<void> {
  const { name, lease = { role: name, table: "ops.lease" } } = role;
  const { context, stopping } = standing;
  const { logger } = context;
  const { url } = context.config.database;
  let failures = 0;
  for (let isAgain = false; !stopping.aborted; isAgain = true) {
    const wanted = { url, ...lease, logger, signal: stopping };
    const leadership = await acquireLeadership(isAgain ? { ...wanted, isAgain } : wanted);
    if (leadership === null) return;
    const startedAt = performance.now();
    const end = await lead(standing, role, leadership);
    if (stopping.aborted) return;
    logger.warn({ role: lease.role, ...end }, "work ended, standing by");
    failures = performance.now() - startedAt > steadyMs ? 1 : failures + 1;
    await backOff(failures, stopping);
  }
}

/** Works until the lease is lost, the role stops or the database fails the work, and waits until the work has ended. */
async function lead(
  { context, db, onReady, stopping }: Standing,
  { name, work }: LeaderRole,
  leadership: Leadership,
): Promise<{ reason: string }> {
  const signal = AbortSignal.any([stopping, leadership.signal]);
  // Each loop of the role adds a listener while it waits.
  setMaxListeners(0, signal);
  const working = work({ context, db, leadership, signal, onReady });
  const failure = await Promise.race([leadership.lost, working, untilAborted(stopping)]).then(
    () => new WorkDone("there is nothing to do"),
    (error: unknown) => error,
  );
  const isSurvived =
    leadership.signal.aborted ||
    failure instanceof DatabaseUnavailable ||
    failure instanceof WorkDone;
  const hasEnded = await endsWithin(working, stopping.aborted ? stopMs : loseMs);
  await leadership.release();
  // Two works of a role must not be at its tables from one process.
  if (!hasEnded && !stopping.aborted) throw new Error(`work of ${name} did not end with its lease`);
  if (failure instanceof Error && isSurvived) return { reason: failure.message };
  throw failure;
}

class WorkDone extends Error {}

/** Work that waits for a chain or a partner may take long to notice. */
function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

/** Whether work settles in time. */
async function endsWithin(working: Promise<void>, ms: number): Promise<boolean> {
  const late = new AbortController();
  const settled = working.then(
    () => true,
    () => true,
  );
  const ended = await Promise.race([settled, sleep(ms, late.signal).then(() => false)]);
  late.abort();
  return ended;
}
