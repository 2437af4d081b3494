import { sql } from "kysely";
import type { Database } from "#projections/log/database.ts";
import type { KeyType } from "./key-text.ts";

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
  /** E-mail address of the owner; null for instant keys and keys made by an operator. */
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
           a.email as account
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
