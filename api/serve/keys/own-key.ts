import { sql } from "kysely";
import type { Database } from "#projections/log/database.ts";
import type { Limits } from "./count-requests.ts";
import type { KeyTerms } from "./key-terms.ts";
import type { KeyType } from "./key-text.ts";
import { type KeyRequest, readKeyRequests } from "./request-log.ts";

/** What a key may know of itself. */
export type OwnKey = KeyTerms & {
  readonly type: KeyType;
  readonly name: string | null;
  /** 0: unlimited. */
  readonly requestsPerMinute: number;
  readonly createdAt: Date;
  /** Another key replaced it; it expires a day later. */
  readonly isReplaced: boolean;
};

/** What the holder of a key may do with it, by the key's number. */
export type OwnKeys = {
  read(id: number): Promise<OwnKey | null>;
  readRequests(
    id: number,
    page: { readonly before: bigint | null; readonly limit: number },
  ): Promise<KeyRequest[]>;
};

export const openOwnKeys = (db: Database, limits: Limits): OwnKeys => ({
  read: (id) => readOwnKey(db, id, limits),
  readRequests: (id, page) => readKeyRequests(db, id, page),
});

async function readOwnKey(db: Database, id: number, limits: Limits): Promise<OwnKey | null> {
  const { rows } = await sql<Omit<OwnKey, "requestsPerMinute"> & { perMinute: number | null }>`
    select type, name, per_minute as "perMinute", created_at as "createdAt", expires_at as "expiresAt",
           replaced_at is not null as "isReplaced", scopes, networks::text[] as networks
    from access.key where id = ${id}`.execute(db);
  const [row] = rows;
  if (row === undefined) return null;
  const { perMinute, ...key } = row;
  return { ...key, requestsPerMinute: perMinute ?? limits[key.type] };
}
