import { sql } from "kysely";
import type { Database, Session } from "#projections/log/database.ts";
import { type KeyTerms, unlimitedTerms } from "./key-terms.ts";
import { hashKey, lastCharacters, makeKey } from "./key-text.ts";

const instantKeyDays = 7;
export const instantKeysPerDay = 3;

const daySeconds = 86_400;

/** Rows of `access.instant_key_turn`; an address always takes the same one. */
const turns = 1024;

/** `key` is stored nowhere and cannot be shown again. */
export type CreatedInstantKey = { readonly key: string; readonly expiresAt: Date };

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
