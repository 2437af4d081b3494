import { sql } from "kysely";
import type { Database, Session } from "../../../projections/database.ts";
import { isRejection, type Rejection, reject } from "../../../projections/domain/rejection.ts";
import { createPermanentKey } from "../keys/create-key.ts";
import type { AccountContext } from "./account-context.ts";
import { type Clock, timeOf } from "./clock.ts";
import type { TooMany } from "./throttle.ts";

export const mostKeys = 10;
export const overlapHours = 24;

type Keys = Pick<AccountContext, "db" | "clock" | "throttle">;

/** `key` is nowhere else, and cannot be told again. */
type CreatedKey = { readonly id: number; readonly key: string; readonly name: string };

const mostNameCharacters = 60;

/** What a key is called: one line. */
function keyNameOf(text: string): string | Rejection<"bad_name"> {
  const name = text.trim();
  if (name === "") return reject("bad_name", "Give the key a name, such as what uses it");
  if ([...name].length > mostNameCharacters)
    return reject("bad_name", `Choose a name of ${mostNameCharacters} characters or fewer`);
  if (/\p{C}/u.test(name))
    return reject("bad_name", "Choose a name of letters, digits, signs and blanks");
  return name;
}

/** A permanent key of an account, which may have ten. Two that are asked for at once wait for one another. */
export async function createAccountKey(
  { db, clock, throttle }: Keys,
  accountId: number,
  text: string,
): Promise<CreatedKey | Rejection<"bad_name" | "too_many_keys"> | TooMany> {
  const name = keyNameOf(text);
  if (isRejection(name)) return name;
  // Without this a new key for every minute would be a new limit for every minute.
  const refused = await throttle.take(["keys account", `${accountId}`]);
  if (refused !== null) return refused;
  return await db.transaction().execute(async (transaction) => {
    await lockAccount(transaction, accountId);
    const { rows } = await sql<{ lasting: number }>`
      select count(*)::int as lasting from access.key
      where account_id = ${accountId} and revoked_at is null and expires_at is null`.execute(
      transaction,
    );
    if ((rows[0]?.lasting ?? 0) >= mostKeys) return tooMany;
    const key = { name, perMinute: null, accountId };
    return { ...(await createPermanentKey(transaction, key, clock())), name };
  });
}

const tooMany: Rejection<"too_many_keys"> = reject(
  "too_many_keys",
  `An account has ${mostKeys} keys at most. Revoke one that is not used any more.`,
);

/**
 * A key in the place of another, which goes on for a day. The one before that ends at once: two keys in one place are
 * the most there are.
 */
export async function rotateAccountKey(
  { db, clock, throttle }: Keys,
  accountId: number,
  id: number,
): Promise<CreatedKey | Rejection<"no_such_key"> | TooMany> {
  const refused = await throttle.take(["keys account", `${accountId}`]);
  if (refused !== null) return refused;
  return await db.transaction().execute(async (transaction) => {
    await lockAccount(transaction, accountId);
    const { rows } = await sql<{ name: string; perMinute: number | null; replaces: number | null }>`
      update access.key set expires_at = ${timeOf(clock)} + make_interval(hours => ${overlapHours})
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

/** Ends a key: its next request fails. */
export async function revokeAccountKey(
  { db, clock }: Pick<Keys, "db" | "clock">,
  accountId: number,
  id: number,
): Promise<Rejection<"no_such_key"> | null> {
  return (await revoke(db, clock, accountId, id)) ? null : noSuchKey;
}

const noSuchKey: Rejection<"no_such_key"> = reject(
  "no_such_key",
  "There is no such key any more, or it is being replaced already",
);

async function revoke(db: Session, clock: Clock, accountId: number, id: number): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update access.key set revoked_at = ${timeOf(clock)}
    where id = ${id} and account_id = ${accountId} and revoked_at is null`.execute(db);
  return numAffectedRows === 1n;
}

async function lockAccount(transaction: Session, accountId: number): Promise<void> {
  await sql`select from access.account where id = ${accountId} for update`.execute(transaction);
}

/** What is kept of an account's key that works. */
export type AccountKey = {
  readonly id: number;
  readonly name: string;
  readonly ending: string;
  readonly perMinute: number | null;
  readonly createdAt: Date;
  /** When it ends, since another took its place. */
  readonly expiresAt: Date | null;
  /** A few seconds late. */
  readonly lastUsedAt: Date | null;
  /** Requests of the last 30 days. */
  readonly requests: number;
};

/** Days of use that are shown. */
const shownDays = 30;

export async function readAccountKeys(
  db: Database,
  accountId: number,
  clock: Clock,
): Promise<AccountKey[]> {
  const { rows } = await sql<AccountKey>`
    select k.id, k.name, k.ending, k.per_minute as "perMinute", k.created_at as "createdAt",
           k.expires_at as "expiresAt", k.last_used_at as "lastUsedAt",
           coalesce((select sum(u.requests) from access.usage u
                     where u.key_id = k.id and u.day > ${today(clock)} - ${shownDays}::int), 0)::float8 as requests
    from access.key k
    where k.account_id = ${accountId} and k.revoked_at is null
      and (k.expires_at is null or k.expires_at > ${timeOf(clock)})
    order by k.id desc`.execute(db);
  return rows;
}

/** Requests of all keys that an account has or had, for each of the last days by UTC, also those without any. */
export async function readAccountUsage(
  db: Database,
  accountId: number,
  clock: Clock,
): Promise<{ readonly day: string; readonly requests: number }[]> {
  const { rows } = await sql<{ day: string; requests: number }>`
    select to_char(${today(clock)} - back, 'YYYY-MM-DD') as day,
           coalesce((select sum(u.requests) from access.usage u join access.key k on k.id = u.key_id
                     where k.account_id = ${accountId} and u.day = ${today(clock)} - back), 0)::float8 as requests
    from generate_series(${shownDays - 1}::int, 0, -1) as back
    order by back desc`.execute(db);
  return rows;
}

const today = (clock: Clock) => sql`(${timeOf(clock)} at time zone 'UTC')::date`;
