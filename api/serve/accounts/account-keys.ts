import { sql } from "kysely";
import type { Database, Session } from "../../../projections/database.ts";
import { isRejection, type Rejection, reject } from "../../../projections/domain/rejection.ts";
import { createPermanentKey } from "../keys/create-key.ts";
import type { AccountContext } from "./account-context.ts";
import { type Clock, currentTime } from "./clock.ts";
import type { TooMany } from "./throttle.ts";

export const maxKeys = 10;
export const overlapHours = 24;

type KeyContext = Pick<AccountContext, "db" | "clock" | "throttle">;

/** `key` is stored nowhere and cannot be shown again. */
type CreatedKey = { readonly id: number; readonly key: string; readonly name: string };

const maxNameLength = 60;

/** A key's name: one line of printable characters. */
function parseKeyName(text: string): string | Rejection<"bad_name"> {
  const name = text.trim();
  if (name === "")
    return reject("bad_name", "Give the key a name, for example the program that uses it");
  if ([...name].length > maxNameLength)
    return reject("bad_name", `Choose a name of ${maxNameLength} characters or fewer`);
  if (/\p{C}/u.test(name))
    return reject("bad_name", "Use only letters, digits, punctuation and spaces");
  return name;
}

/** Creates a permanent key of an account, which may have ten. Concurrent requests of an account are serialized. */
export async function createAccountKey(
  { db, clock, throttle }: KeyContext,
  accountId: number,
  text: string,
): Promise<CreatedKey | Rejection<"bad_name" | "too_many_keys"> | TooMany> {
  const name = parseKeyName(text);
  if (isRejection(name)) return name;
  // Each key has its own rate limit, so the number of new keys is limited too.
  const refused = await throttle.countAttempts(["keys account", `${accountId}`]);
  if (refused !== null) return refused;
  return await db.transaction().execute(async (transaction) => {
    await lockAccount(transaction, accountId);
    const { rows } = await sql<{ lasting: number }>`
      select count(*)::int as lasting from access.key
      where account_id = ${accountId} and revoked_at is null and expires_at is null`.execute(
      transaction,
    );
    if ((rows[0]?.lasting ?? 0) >= maxKeys) return tooMany;
    const key = { name, perMinute: null, accountId };
    return { ...(await createPermanentKey(transaction, key, clock())), name };
  });
}

const tooMany: Rejection<"too_many_keys"> = reject(
  "too_many_keys",
  `An account can have at most ${maxKeys} keys. Revoke one that is no longer used.`,
);

/**
 * Replaces a key with a new one; the old key stays valid for a day. The key that the old one had replaced is revoked
 * at once, so that at most two keys overlap.
 */
export async function rotateAccountKey(
  { db, clock, throttle }: KeyContext,
  accountId: number,
  id: number,
): Promise<CreatedKey | Rejection<"no_such_key"> | TooMany> {
  const refused = await throttle.countAttempts(["keys account", `${accountId}`]);
  if (refused !== null) return refused;
  return await db.transaction().execute(async (transaction) => {
    await lockAccount(transaction, accountId);
    const { rows } = await sql<{ name: string; perMinute: number | null; replaces: number | null }>`
      update access.key set expires_at = ${currentTime(clock)} + make_interval(hours => ${overlapHours})
      where id = ${id} and account_id = ${accountId} and revoked_at is null and expires_at is null
      returning name, per_minute as "perMinute", replaces`.execute(transaction);
    const [old] = rows;
    if (old === undefined) return noSuchKey;
    if (old.replaces !== null) await revoke(transaction, clock, accountId, old.replaces);
    const { name, perMinute } = old;
    const key = { name, perMinute, accountId, replaces: id };
    return { ...(await createPermanentKey(transaction, key, clock())), name };
  });
}

/** Revokes a key: its next request fails. */
export async function revokeAccountKey(
  { db, clock }: Pick<KeyContext, "db" | "clock">,
  accountId: number,
  id: number,
): Promise<Rejection<"no_such_key"> | null> {
  return (await revoke(db, clock, accountId, id)) ? null : noSuchKey;
}

const noSuchKey: Rejection<"no_such_key"> = reject(
  "no_such_key",
  "This key does not exist, or it has already been replaced",
);

async function revoke(db: Session, clock: Clock, accountId: number, id: number): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update access.key set revoked_at = ${currentTime(clock)}
    where id = ${id} and account_id = ${accountId} and revoked_at is null`.execute(db);
  return numAffectedRows === 1n;
}

async function lockAccount(transaction: Session, accountId: number): Promise<void> {
  await sql`select from access.account where id = ${accountId} for update`.execute(transaction);
}

/** A valid key of an account, without its secret. */
export type AccountKey = {
  readonly id: number;
  readonly name: string;
  readonly ending: string;
  readonly perMinute: number | null;
  readonly createdAt: Date;
  /** When it expires, after it was replaced. */
  readonly expiresAt: Date | null;
  /** Up to a few seconds behind. */
  readonly lastUsedAt: Date | null;
  /** Requests of the last 30 days. */
  readonly requests: number;
};

/** Days of usage shown on the page. */
const usageDays = 30;

export async function readAccountKeys(
  db: Database,
  accountId: number,
  clock: Clock,
): Promise<AccountKey[]> {
  const { rows } = await sql<AccountKey>`
    select k.id, k.name, k.ending, k.per_minute as "perMinute", k.created_at as "createdAt",
           k.expires_at as "expiresAt", k.last_used_at as "lastUsedAt",
           coalesce((select sum(u.requests) from access.usage u
                     where u.key_id = k.id and u.day > ${today(clock)} - ${usageDays}::int), 0)::float8 as requests
    from access.key k
    where k.account_id = ${accountId} and k.revoked_at is null
      and (k.expires_at is null or k.expires_at > ${currentTime(clock)})
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
