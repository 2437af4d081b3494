import { sql } from "kysely";
import type { Logger } from "pino";
import { type Database, type DatabaseAddress, openDatabase } from "#projections/log/database.ts";
import { openSwitch } from "#projections/log/operators.ts";
import type { Counter, Limiter } from "../http/limit.ts";
import { timeOfBoth } from "./clock.ts";
import { type OwnKeys, openOwnKeys } from "./key-terms.ts";
import { type KeyUse, openLimiter } from "./limiter.ts";
import { openRequestLog, requestDays } from "./request-log.ts";
import { type InstantKeys, openInstantKeys } from "./stored-keys.ts";

type Access = {
  readonly limiter: Limiter & Counter;
  readonly instantKeys: InstantKeys;
  readonly ownKeys: OwnKeys;
  /** Writes pending usage and closes the connections. */
  close(): Promise<void>;
};

/** The settings that keys and limits need. Limits are requests per minute; 0: unlimited. */
type AccessConfig = {
  readonly database: { readonly requests: DatabaseAddress };
  readonly http: { readonly baseUrl: string };
  readonly access: {
    readonly limits: {
      readonly keyless: number;
      readonly instant: number;
      readonly permanent: number;
    };
    readonly instantKeys: boolean;
  };
};

type AccessOptions = {
  readonly config: AccessConfig;
  readonly logger: Logger;
  /** Called for every request admitted with a key. */
  readonly onUse: (use: KeyUse) => void;
};

const writeMs = 10_000;
const sweepMs = 60_000;

/** Keys and limits of one API process, on connections of their own so that slow reads do not delay counting. */
export function openAccess({ config, logger, onUse }: AccessOptions): Access {
  const { limits, instantKeys } = config.access;
  const db = openDatabase({
    ...config.database.requests,
    applicationName: "api access",
    max: 4,
    statementTimeoutMs: 2_000,
    prepares: true,
    onIdleError: (error) => logger.warn({ err: error }, "database connection lost"),
  });
  const usage = openUsage(db);
  const warn = (what: string) => (error: unknown) => logger.warn({ err: error }, what);
  const requests = openRequestLog(db);
  const write = async () => {
    await usage.flush().catch(warn("key usage flush failed"));
    await requests.flush().catch(warn("request log flush failed"));
  };
  const sweep = () => deleteExpiredAccess(db, new Date()).catch(warn("access cleanup failed"));
  const timers = [setInterval(write, writeMs), setInterval(sweep, sweepMs)];
  return {
    limiter: openLimiter({
      db,
      limits,
      logger,
      onAnswer: requests.add,
      onUse(use) {
        usage.onUse(use);
        onUse(use);
      },
    }),
    instantKeys: openInstantKeys({
      db,
      requestsPerMinute: limits.instant,
      docs: `${config.http.baseUrl}/docs`,
      isPaused: openSwitch(db, "instant-keys", !instantKeys),
    }),
    ownKeys: openOwnKeys(db, limits),
    async close() {
      for (const timer of timers) clearInterval(timer);
      await write();
      await db.destroy();
    },
  };
}

/**
 * Counts the use of keys in memory and writes it periodically, so that a request costs no write. A killed process
 * loses what it had not written.
 */
export function openUsage(db: Database, now: () => Date = () => new Date()) {
  let days = new Map<string, { keyId: number; day: string; requests: number; lastUsedAt: Date }>();
  return {
    onUse({ id: keyId }: { readonly id: number }): void {
      const at = now();
      const day = at.toISOString().slice(0, 10);
      const requests = (days.get(`${keyId} ${day}`)?.requests ?? 0) + 1;
      days.set(`${keyId} ${day}`, { keyId, day, requests, lastUsedAt: at });
    },
    /** Writes the counts since the last flush; on failure they are kept for the next one. */
    async flush(): Promise<void> {
      if (days.size === 0) return;
      const taken = days;
      days = new Map();
      try {
        await writeUsage(db, [...taken.values()]);
      } catch (error) {
        for (const [name, { requests, ...one }] of taken) {
          const later = days.get(name);
          days.set(name, { ...one, ...later, requests: requests + (later?.requests ?? 0) });
        }
        throw error;
      }
    },
  };
}

type Used = { keyId: number; day: string; requests: number; lastUsedAt: Date };

async function writeUsage(db: Database, used: readonly Used[]): Promise<void> {
  await sql`
    with counted as materialized (
      select * from unnest(${used.map(({ keyId }) => keyId)}::int[], ${used.map(({ day }) => day)}::date[],
                           ${used.map(({ requests }) => requests)}::int[],
                           ${used.map(({ lastUsedAt }) => lastUsedAt)}::timestamptz[])
        as u (key_id, day, requests, last_used_at)
    ),
    -- Always in the same order, so that processes that write the same keys do not deadlock.
    locked as materialized (
      select id from access.key where id in (select key_id from counted) order by id for no key update
    ),
    touched as (
      update access.key k set last_used_at = greatest(k.last_used_at, last.at)
      from (select key_id, max(last_used_at) as at from counted group by key_id) last
           join locked on locked.id = last.key_id
      where k.id = last.key_id
    )
    insert into access.usage as u (key_id, day, requests)
    select key_id, day, requests from counted join locked on locked.id = key_id
    on conflict (key_id, day) do update set requests = u.requests + excluded.requests`.execute(db);
}

/** Days for which an expired instant key is still answered with `expired_key`. */
const retentionDays = 30;

/**
 * Deletes past minutes, the addresses of expired instant keys, old requests of keys, and instant keys that expired long
 * ago. `now`: of this process. Any number of processes may run it at once; `skip locked` keeps them from waiting for
 * each other.
 */
export async function deleteExpiredAccess(db: Database, now: Date): Promise<void> {
  const time = timeOfBoth(now);
  await sql`
    delete from access.minute where caller in (
      select caller from access.minute where began_at < ${time} - interval '2 minutes'
      limit 20000 for update skip locked)`.execute(db);
  await sql`
    update access.key set created_from = null where id in (
      select id from access.key where created_from is not null and expires_at < ${time}
      limit 20000 for update skip locked)`.execute(db);
  await sql`
    delete from access.key where id in (
      select id from access.key
      where type = 'instant' and expires_at < ${time} - make_interval(days => ${retentionDays})
      limit 20000 for update skip locked)`.execute(db);
  await sql`
    delete from access.key_request where id in (
      select id from access.key_request where at < ${time} - make_interval(days => ${requestDays})
      limit 20000 for update skip locked)`.execute(db);
}
