import { randomUUID } from "node:crypto";
import { setMaxListeners } from "node:events";
import { hostname } from "node:os";
import { sql } from "kysely";
import pg from "pg";
import type { Logger } from "pino";
import { backOff, sleep } from "#jobs/runner/back-off.ts";
import { createSignal, type Signal } from "#jobs/runner/signals.ts";
import {
  type Database,
  type DatabaseOptions,
  openDatabase,
  type Session,
} from "#projections/log/database.ts";
import { DatabaseUnavailable } from "#projections/log/database-failure.ts";
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

/**
 * A lease survives one failed renewal, and a holder that cannot renew stops before another process may start.
 * Transactions of a frozen holder are ended by the server when its lease expires.
 */
export const leaseMs = 2_500;
const renewMs = 1_000;
const safetyMarginMs = 500;
/** A standby polls this often, and at once when the holder notifies that it has released the lease. */
const pollMs = 200;
const channel = "lease";

export type Leadership = {
  /** Aborted once another process holds the lease, or may hold it. */
  signal: AbortSignal;
  /** Rejects when that happens. */
  lost: Promise<never>;
  /** Whether the work may continue; checked before each piece of it. False no later than half a second before the lease expires. */
  isHeld(): Promise<boolean>;
  /** Throws in a transaction when another process may hold the lease. */
  fence(session: Session): Promise<void>;
  /** Gives the lease up, so that a standby starts at once. */
  release(): Promise<void>;
};

type LeaseTable = "ops.lease" | "ops.projecting_lease";

type LeadershipOptions = {
  url: string;
  role: string;
  table: LeaseTable;
  logger: Logger;
  signal: AbortSignal;
  /** Whether the process has told that it stands by. */
  isAgain?: boolean;
};

/**
 * Waits until this process holds the lease of a role: a row in the database that it renews. Not an advisory lock, since
 * a lock lives as long as its connection, which may outlive its process. The lease avoids duplicate work; correctness
 * does not depend on it (checkpoints and identities guarantee that). Null when `signal` is aborted first.
 */
export async function acquireLeadership(options: LeadershipOptions): Promise<Leadership | null> {
  const { role, logger, signal } = options;
  const owner = `${hostname()} ${process.pid} ${randomUUID()}`;
  const released = createSignal();
  let hasLoggedStandby = options.isAgain === true;
  let hasFailed = false;
  let client: pg.Client | undefined;
  while (!signal.aborted) {
    try {
      client ??= await connect(options, released);
      const requestedAt = performance.now();
      const epoch = await tryAcquireLease(client, options, owner);
      if (epoch !== null) return startRenewing({ client, options, owner, epoch, requestedAt });
      hasFailed = false;
      if (!hasLoggedStandby) logger.info({ role }, "standing by for leader");
      hasLoggedStandby = true;
    } catch (error) {
      const err = new DatabaseUnavailable(error);
      if (!hasFailed) logger.warn({ err, role }, "lease check failed");
      hasFailed = true;
      await client?.end().catch(() => undefined);
      client = undefined;
    }
    await released.wait(pollMs, signal);
  }
  await client?.end().catch(() => undefined);
  return null;
}

async function connect({ url, role }: LeadershipOptions, released: Signal): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString: url,
    application_name: `leader ${role}`,
    connectionTimeoutMillis: leaseMs,
    query_timeout: renewMs,
  });
  client.on("error", () => released.notify());
  client.on("notification", () => released.notify());
  await client.connect();
  await client.query(`listen ${channel}`);
  return client;
}

async function tryAcquireLease(
  client: pg.Client,
  { role, table }: LeadershipOptions,
  owner: string,
): Promise<bigint | null> {
  const { rows } = await client.query<{ epoch: string }>(
    `insert into ${table} as held (role, owner, epoch, expires_at)
     values ($1, $2, 1, clock_timestamp() + make_interval(secs => $3 / 1000.0))
     on conflict (role) do update
       set owner = excluded.owner, epoch = held.epoch + 1, expires_at = excluded.expires_at
       where held.expires_at <= clock_timestamp()
     returning epoch`,
    [role, owner, leaseMs],
  );
  return rows[0] === undefined ? null : BigInt(rows[0].epoch);
}

type HeldLease = {
  client: pg.Client;
  options: LeadershipOptions;
  owner: string;
  epoch: bigint;
  /** When the lease was requested; it starts no earlier. */
  requestedAt: number;
};

/**
 * Renews a lease until it is released or lost. A process that was slow but finds its epoch unchanged continues: no other
 * process has held the lease meanwhile.
 */
function startRenewing(held: HeldLease): Leadership {
  const { client, options, epoch } = held;
  const { role } = options;
  const ending = new AbortController();
  let heldUntil = held.requestedAt + leaseMs - safetyMarginMs;
  let reject = (_: Error) => {};
  const lost = new Promise<never>((_, rejectLost) => {
    reject = rejectLost;
  });
  lost.catch(() => undefined);
  const endLeadership = (reason: string) => {
    if (ending.signal.aborted) return;
    clearInterval(timer);
    reject(new Error(`lease of ${role} lost: ${reason}`));
    ending.abort();
  };
  const renewLease = async () => {
    const requestedAt = performance.now();
    const isRenewed = await renew(held).catch(() => undefined);
    if (isRenewed === false) endLeadership("another process holds it");
    if (isRenewed) heldUntil = requestedAt + leaseMs - safetyMarginMs;
    pendingRenewal = undefined;
  };
  let pendingRenewal: Promise<void> | undefined;
  const renewOnce = async () => {
    pendingRenewal ??= renewLease();
    await pendingRenewal;
  };
  const isHeld = async () => {
    for (let attempts = 0; performance.now() > heldUntil && attempts < 2; attempts += 1) {
      if (!ending.signal.aborted) await renewOnce();
    }
    if (performance.now() > heldUntil) endLeadership("it could not be renewed in time");
    return !ending.signal.aborted;
  };
  const timer = setInterval(() => void renewOnce().then(isHeld), renewMs);
  client.on("end", () => endLeadership("its connection ended"));
  return {
    signal: ending.signal,
    lost,
    isHeld,
    fence: (session) => assertLeaseHeld(session, options, epoch),
    async release() {
      clearInterval(timer);
      ending.abort();
      await releaseLease(held).catch(() => undefined);
      await client.end().catch(() => undefined);
    },
  };
}

async function renew({ client, options, owner, epoch }: HeldLease): Promise<boolean> {
  const { rowCount } = await client.query(
    `update ${options.table} set expires_at = clock_timestamp() + make_interval(secs => $4 / 1000.0)
     where role = $1 and owner = $2 and epoch = $3`,
    [options.role, owner, epoch, leaseMs],
  );
  return rowCount === 1;
}

async function assertLeaseHeld(
  session: Session,
  { role, table }: LeadershipOptions,
  epoch: bigint,
): Promise<void> {
  const { rows } = await sql`
    select 1 from ${sql.raw(table)} where role = ${role} and epoch = ${epoch} and expires_at > clock_timestamp()
  `.execute(session);
  if (rows.length === 0) throw new Error(`lease of ${role} lost: transaction rolled back`);
}

async function releaseLease({ client, options, owner, epoch }: HeldLease): Promise<void> {
  const { rowCount } = await client.query(
    `update ${options.table} set expires_at = clock_timestamp()
     where role = $1 and owner = $2 and epoch = $3`,
    [options.role, owner, epoch],
  );
  if (rowCount === 1) await client.query("select pg_notify($1, $2)", [channel, options.role]);
}
