import { sql } from "kysely";
import type { Hex } from "viem";
import type { Database } from "#projections/log/database.ts";
import type { Scope } from "../http/limit.ts";
import { beganLater } from "./clock.ts";
import type { KeyType } from "./key-text.ts";

/** Requests per minute for each kind of caller; 0: unlimited. */
export type RequestLimits = {
  readonly keyless: number;
  readonly instant: number;
  readonly permanent: number;
};

/** Requests of one caller: one with the given limit, or a key, used from `ip` (null: unknown), with its own. */
export type CountRequest =
  | { readonly caller: string; readonly wanted: number; readonly perMinute: number }
  | {
      readonly caller: string;
      readonly wanted: number;
      readonly hash: Buffer;
      readonly ip: string | null;
    };

/** The stored state of a key. */
export type KnownKey = {
  readonly id: number;
  readonly hash: Hex;
  readonly type: KeyType;
  readonly accountId: number | null;
  /** What it may be used for; null: everything. */
  readonly scopes: readonly Scope[] | null;
  readonly isRevoked: boolean;
  readonly isExpired: boolean;
  /** Whether it may be used from the address of the request. */
  readonly isAllowed: boolean;
  /** Whether it may be used from some networks only. */
  readonly isBound: boolean;
};

export type Counted = {
  /** Whom the requests count for: a permanent key for itself, an instant key for its share. */
  readonly caller: string;
  readonly key: KnownKey | null;
  /** 0: unlimited, nothing is counted. */
  readonly perMinute: number;
  /** How many of the requests fit the limit, and how many the caller has used including them. */
  readonly granted: number;
  readonly used: number;
  readonly window: CountedMinute;
};

/** A caller's minute, identified by `beganAt`. */
export type CountedMinute = {
  readonly beganAt: Date;
  readonly resetAt: number;
  readonly resetSeconds: number;
};

/** Refunds per minute, as a multiple of the limit: a 304 is free, but not without bound. */
export const maxRefundFactor = 20;

/**
 * Looks up keys and counts requests for all callers in one statement; each caller and address appears once. Requests
 * over the limit are not counted, nor those of a key that is not valid there. `at` is null for the database's clock,
 * which all processes share.
 */
export async function countRequests(
  db: Database,
  asks: readonly CountRequest[],
  limits: RequestLimits,
  at: Date | null,
): Promise<Counted[]> {
  const callers = asks.map(({ caller }) => caller);
  const wanted = asks.map((ask) => ask.wanted);
  const perMinute = asks.map((ask) => ("perMinute" in ask ? ask.perMinute : null));
  const hashes = asks.map((ask) => ("hash" in ask ? ask.hash : null));
  const ips = asks.map((ask) => ("ip" in ask ? ask.ip : null));
  const { rows } = await sql<Row>`
    with clock as materialized (select coalesce(${at}::timestamptz, now()) as at),
    asked as materialized (
      select a.wanted, a.place, k.id, k.hash as known_hash, k.type, k.account_id, k.scopes,
             k.revoked_at is not null or o.suspended_at is not null as is_revoked,
             coalesce(k.expires_at <= clock.at, false) as is_expired,
             k.networks is null or coalesce(a.ip <<= any(k.networks::inet[]), false) as is_allowed,
             k.networks is not null as is_bound,
             case when k.per_minute is not null or k.account_id is not null then a.caller
                  when k.share is not null and k.created_from is not null
                  then 'instant keys ' || k.share || ' of ' || k.created_from
                  else a.caller end as caller,
             coalesce(a.own_limit, k.per_minute,
                      case k.type when 'instant' then ${limits.instant}::int
                                  when 'permanent' then ${limits.permanent}::int else 0 end) as per_minute
      from clock,
           unnest(${callers}::text[], ${wanted}::int[], ${perMinute}::int[], ${hashes}::bytea[], ${ips}::inet[])
             with ordinality as a (caller, wanted, own_limit, hash, ip, place)
           left join access.key k on k.hash = a.hash
           left join access.account o on o.id = k.account_id
    ),
    counted as (
      insert into access.minute as m (caller, began_at, per_minute, used, granted)
      select caller, clock.at, per_minute, least(wanted, per_minute), least(wanted, per_minute)
      from clock, (
        select caller, per_minute, sum(wanted)::int as wanted
        from asked where per_minute > 0 and not is_revoked and not is_expired and is_allowed
        group by caller, per_minute
      ) valid
      -- Always in the same order, so that processes that count the same callers do not deadlock.
      order by caller
      on conflict (caller) do update set
        began_at = case when ${isOver} then excluded.began_at else m.began_at end,
        per_minute = excluded.per_minute,
        used = case when ${isOver} then excluded.used else m.used + ${fitting} end,
        granted = case when ${isOver} then excluded.granted else ${fitting} end,
        freed = case when ${isOver} then 0 else m.freed end
      returning caller, began_at, used, granted
    )
    select a.caller, a.id, a.known_hash as hash, a.type, a.account_id as "accountId", a.scopes,
           a.is_revoked as "isRevoked", a.is_expired as "isExpired", a.is_allowed as "isAllowed",
           a.is_bound as "isBound",
           a.per_minute as "perMinute", coalesce(c.granted, 0) as granted, coalesce(c.used, 0) as used,
           coalesce(c.began_at, clock.at) as "beganAt",
           ceil(extract(epoch from c.began_at + interval '1 minute'))::int as "resetAt",
           ceil(extract(epoch from c.began_at + interval '1 minute' - clock.at))::int as "resetSeconds"
    from clock, asked a left join counted c using (caller)
    order by a.place`.execute(db);
  return rows.map(countedOf);
}

const isOver = sql<boolean>`(m.began_at <= excluded.began_at - interval '1 minute' or ${beganLater("m")})`;
const fitting = sql.raw("greatest(0, least(excluded.granted, excluded.per_minute - m.used))");

type Row = Omit<KnownKey, "id"> & {
  caller: string;
  id: number | null;
  perMinute: number;
  granted: number;
  used: number;
  beganAt: Date;
  resetAt: number | null;
  resetSeconds: number | null;
};

function countedOf(row: Row): Counted {
  const { caller, id, perMinute, granted, used, beganAt, resetAt, resetSeconds, ...key } = row;
  return {
    caller,
    key: id === null ? null : { id, ...key },
    perMinute,
    granted,
    used,
    window: { beganAt, resetAt: resetAt ?? 0, resetSeconds: resetSeconds ?? 0 },
  };
}

/** Refunds one request to the minute it was counted in. Returns the requests used; null: that minute is over. */
export async function uncountRequest(
  db: Database,
  caller: string,
  beganAt: Date,
): Promise<number | null> {
  const { rows } = await sql<{ used: number }>`
    update access.minute set
      used = case when freed < per_minute * ${maxRefundFactor}::int then used - 1 else used end,
      freed = freed + 1
    where caller = ${caller} and began_at = ${beganAt} and used > 0
    returning used`.execute(db);
  return rows[0]?.used ?? null;
}

/** Takes back what was counted for requests that were refused then, as not all of each fitted. */
export async function uncountUnused(
  db: Database,
  { caller, beganAt, count }: { caller: string; beganAt: Date; count: number },
): Promise<void> {
  await sql`
    update access.minute set used = used - ${count}::int
    where caller = ${caller} and began_at = ${beganAt} and used >= ${count}::int`.execute(db);
}
