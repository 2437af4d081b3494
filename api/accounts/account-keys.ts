import { sql } from "kysely";
import { isRejection, type Rejection, reject } from "#projections/domain/rejection.ts";
import type { Database, Session } from "#projections/log/database.ts";
import type { Scope } from "../http/limit.ts";
import { type Clock, currentTime } from "../keys/clock.ts";
import { type KeyTerms, unlimitedTerms } from "../keys/key-terms.ts";
import { hashKey, lastCharacters, makeKey } from "../keys/key-text.ts";
import { createPermanentKey } from "../keys/stored-keys.ts";
import type { AccountContext } from "./account-context.ts";
import { keyMadeMail } from "./mail.ts";
import type { AccountSession as SignedInSession } from "./sessions.ts";
import type { TooMany } from "./throttle.ts";

export const maxKeys = 10;
export const overlapHours = 24;

type KeyContext = Pick<AccountContext, "db" | "clock" | "throttle" | "mailer" | "baseUrl">;

/** Whose key it is, and where to tell of it. */
export type Owner = Pick<SignedInSession, "accountId" | "email">;

/** `key` is stored nowhere and cannot be shown again. */
type CreatedKey = { readonly id: number; readonly key: string; readonly name: string };

const maxNameLength = 60;

/** The name of a key or passkey: one line of printable characters. `ifNone`: what to say where there is none. */
export function parseCredentialName(
  text: string,
  ifNone = "Give the key a name, for example the program that uses it",
): string | Rejection<"bad_name"> {
  const name = text.trim();
  if (name === "") return reject("bad_name", ifNone);
  if ([...name].length > maxNameLength)
    return reject("bad_name", `Choose a name of ${maxNameLength} characters or fewer`);
  if (/\p{C}/u.test(name))
    return reject("bad_name", "Use only letters, digits, punctuation and spaces");
  return name;
}

/** Creates a permanent key of an account, which may have ten. Concurrent requests of an account are serialized. */
export async function createAccountKey(
  context: KeyContext,
  owner: Owner,
  text: string,
  terms: KeyTerms = unlimitedTerms,
): Promise<CreatedKey | Rejection<"bad_name" | "too_many_keys"> | TooMany> {
  const { db, clock, throttle } = context;
  const { accountId } = owner;
  const name = parseCredentialName(text);
  if (isRejection(name)) return name;
  // Hashes of keys are kept for ever, so the number of new ones is limited.
  const refused = await throttle.countAttempts(["keys account", `${accountId}`]);
  if (refused !== null) return refused;
  const made = await db.transaction().execute(async (transaction) => {
    await lockAccount(transaction, accountId);
    const { rows } = await sql<{ lasting: number }>`
      select count(*)::int as lasting from access.key
      where account_id = ${accountId} and revoked_at is null and replaced_at is null
        and (expires_at is null or expires_at > ${currentTime(clock)})`.execute(transaction);
    if ((rows[0]?.lasting ?? 0) >= maxKeys) return tooMany;
    const key = { name, perMinute: null, accountId, terms };
    return { ...(await createPermanentKey(transaction, key, clock())), name };
  });
  if (!isRejection(made)) mailKey(context, owner, made.name);
  return made;
}

function mailKey({ mailer, baseUrl }: KeyContext, { email }: Owner, name: string): void {
  mailer.send(keyMadeMail({ to: email, baseUrl, credential: `The API key “${name}”` }));
}

const tooMany: Rejection<"too_many_keys"> = reject(
  "too_many_keys",
  `An account can have at most ${maxKeys} keys. Revoke one that is no longer used.`,
);

/**
 * Replaces a key with a new one; the old key stays valid for a day. The key that the old one had replaced is revoked
 * at once, so that at most two keys overlap. Without `terms` the new key has those of the old one.
 */
export async function rotateAccountKey(
  context: KeyContext,
  owner: Owner,
  id: number,
  terms?: KeyTerms,
): Promise<CreatedKey | Rejection<"no_such_key"> | TooMany> {
  const { db, clock, throttle } = context;
  const { accountId } = owner;
  const refused = await throttle.countAttempts(["keys account", `${accountId}`]);
  if (refused !== null) return refused;
  const made = await db.transaction().execute(async (transaction) => {
    await lockAccount(transaction, accountId);
    const old = await replaceKey(transaction, clock, accountId, id);
    if (old === undefined) return noSuchKey;
    const { name, perMinute, replaces, ...former } = old;
    if (replaces !== null) await revoke(transaction, clock, accountId, replaces);
    const key = { name, perMinute, accountId, replaces: id, terms: terms ?? former };
    return { ...(await createPermanentKey(transaction, key, clock())), name };
  });
  if (!isRejection(made)) mailKey(context, owner, made.name);
  return made;
}

type Replaced = KeyTerms & {
  readonly name: string;
  readonly perMinute: number | null;
  readonly replaces: number | null;
};

/** Marks a key as replaced. Its successor has the same terms. */
async function replaceKey(
  transaction: Session,
  clock: Clock,
  accountId: number,
  id: number,
): Promise<Replaced | undefined> {
  const { rows } = await sql<Replaced>`
    with old as (
      select id, expires_at from access.key
      where id = ${id} and account_id = ${accountId} and revoked_at is null and replaced_at is null
        and (expires_at is null or expires_at > ${currentTime(clock)})
    )
    update access.key k set
      replaced_at = ${currentTime(clock)},
      expires_at = least(k.expires_at, ${currentTime(clock)} + make_interval(hours => ${overlapHours}))
    from old where k.id = old.id
    returning k.name, k.per_minute as "perMinute", k.replaces, k.scopes,
              k.networks::text[] as networks, old.expires_at as "expiresAt"`.execute(transaction);
  return rows[0];
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

/** A stored client key, without its secret. */
export type ClientKey = {
  readonly ending: string;
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
};

/** The client key of an account, or null. */
export async function readClientKey(db: Database, accountId: number): Promise<ClientKey | null> {
  const { rows } = await sql<ClientKey>`
    select ending, created_at as "createdAt", last_used_at as "lastUsedAt"
    from access.client_key where account_id = ${accountId} and revoked_at is null`.execute(db);
  return rows[0] ?? null;
}

/**
 * Creates the client key of an account and revokes the previous one at once. Tokens issued for the previous key stay
 * valid until they expire; `revokeClientKey` revokes them.
 */
export async function createClientKey(
  { db, clock, throttle, mailer, baseUrl }: AccountContext,
  { accountId, email }: Owner,
): Promise<{ readonly key: string } | TooMany> {
  const refused = await throttle.countAttempts(["keys account", `${accountId}`]);
  if (refused !== null) return refused;
  const key = makeKey("client");
  await db.transaction().execute(async (transaction) => {
    await sql`select from access.account where id = ${accountId} for update`.execute(transaction);
    await endClientKey(transaction, clock, accountId);
    await sql`
      insert into access.client_key (hash, account_id, ending, created_at)
      values (${hashKey(key)}, ${accountId}, ${lastCharacters(key)}, ${currentTime(clock)})`.execute(
      transaction,
    );
  });
  mailer.send(keyMadeMail({ to: email, baseUrl, credential: "A client key" }));
  return { key };
}

/** Revokes the client key and every token of the account. Returns whether there was anything to revoke. */
export async function revokeClientKey(
  { db, clock }: Pick<AccountContext, "db" | "clock">,
  accountId: number,
): Promise<boolean> {
  return await db.transaction().execute(async (transaction) => {
    const ended = await endClientKey(transaction, clock, accountId);
    const { numAffectedRows } = await sql`
      update access.bearer_token set revoked_at = ${currentTime(clock)}
      where account_id = ${accountId} and revoked_at is null`.execute(transaction);
    return ended || numAffectedRows !== 0n;
  });
}

async function endClientKey(db: Session, clock: Clock, accountId: number): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update access.client_key set revoked_at = ${currentTime(clock)}
    where account_id = ${accountId} and revoked_at is null`.execute(db);
  return numAffectedRows !== 0n;
}
