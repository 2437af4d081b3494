import { sql } from "kysely";
import type { Database } from "#projections/log/database.ts";
import type { Scope } from "../http/scope.ts";
import { type Clock, currentTime } from "./clock.ts";

/** A valid key of an account, without its secret. */
export type AccountKey = {
  readonly id: number;
  readonly name: string;
  readonly ending: string;
  readonly perMinute: number | null;
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  /** Another key replaced it; it expires a day later. */
  readonly isReplaced: boolean;
  /** Null: every scope. */
  readonly scopes: readonly Scope[] | null;
  /** Networks that it may be used from, in CIDR notation; null: all. */
  readonly networks: readonly string[] | null;
  /** Up to a few seconds behind. */
  readonly lastUsedAt: Date | null;
  /** Requests of the last 30 days. */
  readonly requests: number;
};

/** Days of usage shown on the page. */
const usageDays = 30;

/** The valid keys of an account, newest first. */
export const readAccountKeys = (
  db: Database,
  accountId: number,
  clock: Clock,
): Promise<AccountKey[]> => read(db, accountId, clock, null);

export async function readAccountKey(
  db: Database,
  accountId: number,
  id: number,
  clock: Clock,
): Promise<AccountKey | null> {
  const [key] = await read(db, accountId, clock, id);
  return key ?? null;
}

async function read(
  db: Database,
  accountId: number,
  clock: Clock,
  id: number | null,
): Promise<AccountKey[]> {
  const { rows } = await sql<AccountKey>`
    select k.id, k.name, k.ending, k.per_minute as "perMinute", k.created_at as "createdAt",
           k.expires_at as "expiresAt", k.replaced_at is not null as "isReplaced",
           k.scopes, k.networks::text[] as networks, k.last_used_at as "lastUsedAt",
           coalesce((select sum(u.requests) from access.usage u
                     where u.key_id = k.id and u.day > ${today(clock)} - ${usageDays}::int), 0)::float8 as requests
    from access.key k
    where k.account_id = ${accountId} and k.revoked_at is null
      and (k.expires_at is null or k.expires_at > ${currentTime(clock)})
      and (${id}::int is null or k.id = ${id})
    order by k.id desc`.execute(db);
  return rows;
}

/** Requests per UTC day of all current and former keys of an account, including days without any. */
export async function readAccountUsage(
  db: Database,
  accountId: number,
  clock: Clock,
): Promise<{ readonly day: string; readonly requests: number }[]> {
  const { rows } = await sql<{ day: string; requests: number }>`
    select to_char(${today(clock)} - back, 'YYYY-MM-DD') as day,
           coalesce((select sum(u.requests) from access.usage u join access.key k on k.id = u.key_id
                     where k.account_id = ${accountId} and u.day = ${today(clock)} - back), 0)::float8 as requests
    from generate_series(${usageDays - 1}::int, 0, -1) as back
    order by back desc`.execute(db);
  return rows;
}

const today = (clock: Clock) => sql`(${currentTime(clock)} at time zone 'UTC')::date`;
