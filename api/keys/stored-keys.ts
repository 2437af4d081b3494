import { sql } from "kysely";
import { type Rejection, reject } from "#projections/domain/rejection.ts";
import type { Database, Session } from "#projections/log/database.ts";
import { accountName } from "./account-name.ts";
import { type KeyTerms, unlimitedTerms } from "./key-terms.ts";
import { hashKey, type KeyType, lastCharacters, makeKey } from "./key-text.ts";

const instantKeyDays = 7;
const instantKeysPerDay = 3;

const daySeconds = 86_400;

/** Rows of `access.instant_key_turn`; an address always takes the same one. */
const turns = 1024;

/** `key` is stored nowhere and cannot be shown again. */
type CreatedInstantKey = { readonly key: string; readonly expiresAt: Date };

/**
 * An instant key for an address, or the seconds after which it may have one. Requests of one address are serialized.
 * Keys of a day have limits of their own, which those of the days before share: collecting keys brings no more.
 * `at` is null for the database's clock.
 */
export async function createInstantKey(
  db: Database,
  address: string,
  at: Date | null,
): Promise<CreatedInstantKey | { readonly retryAfterSeconds: number }> {
  const key = makeKey("instant");
  return await db.transaction().execute(async (transaction) => {
    await sql`
      select from access.instant_key_turn
      where turn = hashtextextended(${address}, 0) & ${turns - 1} for update`.execute(transaction);
    const { rows: given } = await sql<{ ageSeconds: number; share: number | null }>`
      select extract(epoch from coalesce(${at}::timestamptz, now()) - created_at)::float8 as "ageSeconds", share
      from access.key
      where created_from = ${address}
      order by created_at desc limit ${instantKeysPerDay}`.execute(transaction);
    const oldest = given[instantKeysPerDay - 1];
    if (oldest !== undefined && oldest.ageSeconds < daySeconds)
      return { retryAfterSeconds: Math.ceil(daySeconds - oldest.ageSeconds) };
    const share = ((given[0]?.share ?? -1) + 1) % instantKeysPerDay;
    const { rows } = await sql<{ expiresAt: Date }>`
      insert into access.key (hash, type, ending, created_at, created_from, share, expires_at)
      select ${hashKey(key)}, 'instant', ${lastCharacters(key)}, at, ${address}, ${share},
             at + make_interval(days => ${instantKeyDays})
      from (select coalesce(${at}::timestamptz, now()) as at) clock
      returning expires_at as "expiresAt"`.execute(transaction);
    const [row] = rows;
    if (row === undefined) throw new Error("insert of an API key returned no row");
    return { key, expiresAt: row.expiresAt };
  });
}

type PermanentKey = {
  readonly name: string;
  readonly perMinute: number | null;
  /** The owner, and the key that this one replaces. */
  readonly accountId?: number;
  readonly replaces?: number;
  readonly terms?: KeyTerms;
};

/** A permanent key. `perMinute` null: the limit of all permanent keys. */
export async function createPermanentKey(
  db: Session,
  { name, perMinute, accountId, replaces, terms = unlimitedTerms }: PermanentKey,
  at: Date | null = null,
): Promise<{ readonly id: number; readonly key: string }> {
  const key = makeKey("permanent");
  const { scopes, expiresAt, networks } = terms;
  const { rows } = await sql<{ id: number }>`
    insert into access.key (hash, type, name, ending, per_minute, created_at, account_id, replaces,
                            scopes, expires_at, networks)
    select ${hashKey(key)}, 'permanent', ${name}, ${lastCharacters(key)}, ${perMinute}::int,
           coalesce(${at}::timestamptz, now()), ${accountId ?? null}::int, ${replaces ?? null}::int,
           ${scopes}::text[], ${expiresAt}::timestamptz,
           -- Bits of an address beyond its network's length are cleared.
           (select array_agg(network(n)) from unnest(${networks}::inet[]) n)
    returning id`.execute(db);
  const [row] = rows;
  if (row === undefined) throw new Error("insert of an API key returned no row");
  return { id: row.id, key };
}

/** A stored key, without its secret. */
export type StoredKey = {
  readonly id: number;
  readonly type: KeyType;
  readonly name: string | null;
  /** Its last characters. */
  readonly ending: string;
  /** Null: the limit of its type. */
  readonly perMinute: number | null;
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
  /** Up to a few seconds behind. */
  readonly lastUsedAt: Date | null;
  /** E-mail address of the owner, or its wallet; null for instant keys and keys made by an operator. */
  readonly account: string | null;
};

type KeyFilter = { type: KeyType | null; includeEnded: boolean; accountId?: number };

/** Newest first; revoked and expired ones only with `includeEnded`. */
export async function readKeys(
  db: Database,
  { type, includeEnded, accountId }: KeyFilter,
): Promise<StoredKey[]> {
  const { rows } = await sql<StoredKey>`
    select k.id, k.type, k.name, k.ending, k.per_minute as "perMinute", k.created_at as "createdAt",
           k.expires_at as "expiresAt", k.revoked_at as "revokedAt", k.last_used_at as "lastUsedAt",
           case when a.id is not null then ${accountName} end as account
    from access.key k left join access.account a on a.id = k.account_id
    where (${type}::text is null or k.type = ${type})
      and (${includeEnded} or (k.revoked_at is null and (k.expires_at is null or k.expires_at > now())))
      and (${accountId ?? null}::int is null or k.account_id = ${accountId ?? null})
    order by k.id desc`.execute(db);
  return rows;
}

/** Revokes a key by its id or SHA-256; its next request fails in every process. Null: there is no such key. */
export async function revokeKey(
  db: Database,
  which: { readonly id: number } | { readonly hash: Buffer },
): Promise<{ id: number; hasChanged: boolean } | null> {
  const chosen = "id" in which ? sql`id = ${which.id}` : sql`hash = ${which.hash}`;
  const { rows } = await sql<{ id: number; hasChanged: boolean }>`
    with chosen as (select id, revoked_at from access.key where ${chosen} for update),
    changed as (
      update access.key k set revoked_at = now() from chosen where k.id = chosen.id and chosen.revoked_at is null
    )
    select id, revoked_at is null as "hasChanged" from chosen`.execute(db);
  return rows[0] ?? null;
}

type InstantKey = {
  readonly key: string;
  readonly type: "instant";
  readonly requestsPerMinute: number;
  readonly expiresAt: string;
  /** Address of the API reference. */
  readonly docs: string;
};

type NoKey = Rejection<"rate_limited" | "instant_keys_paused"> & {
  readonly retryAfterSeconds: number;
};

/** Creates keys for a network address. */
export type InstantKeys = { create(address: string): Promise<InstantKey | NoKey> };

type InstantKeysOptions = {
  readonly db: Database;
  readonly requestsPerMinute: number;
  readonly docs: string;
  /** Whether an operator has paused instant keys. */
  readonly isPaused: () => Promise<boolean>;
  /** In place of the database's clock. */
  readonly now?: () => Date;
};

/** `Retry-After` while instant keys are paused. */
const pauseSeconds = 3_600;

export function openInstantKeys(options: InstantKeysOptions): InstantKeys {
  const { db, requestsPerMinute, docs, isPaused, now } = options;
  return {
    async create(address) {
      if (await isPaused()) return noInstantKeys;
      const created = await createInstantKey(db, address, now?.() ?? null);
      if ("retryAfterSeconds" in created) {
        const message = `An address gets ${instantKeysPerDay} instant keys per day; its existing keys still work`;
        return { ...reject("rate_limited", message), ...created };
      }
      const { key, expiresAt } = created;
      return { key, type: "instant", requestsPerMinute, expiresAt: expiresAt.toISOString(), docs };
    },
  };
}

/** The answer while instant keys are paused. */
export const noInstantKeys: NoKey = {
  ...reject(
    "instant_keys_paused",
    "Instant keys are paused at present; every endpoint works without one",
  ),
  retryAfterSeconds: pauseSeconds,
};
