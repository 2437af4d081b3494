import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { sql } from "kysely";
import pg from "pg";
import type { Logger } from "pino";
import type { Session } from "#projections/log/database.ts";
import { DatabaseUnavailable } from "#projections/log/database-failure.ts";
import { createSignal, type Signal } from "#jobs/runner/signals.ts";

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

export type LeaseTable = "ops.lease" | "ops.projecting_lease";

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
