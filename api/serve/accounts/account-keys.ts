import { sql } from "kysely";
import type { Session } from "#projections/log/database.ts";
import { isRejection, type Rejection, reject } from "#projections/domain/rejection.ts";
import { createPermanentKey } from "../keys/create-key.ts";
import { type KeyTerms, unlimitedTerms } from "../keys/key-terms.ts";
import type { AccountContext } from "./account-context.ts";
import { type Clock, currentTime } from "./clock.ts";
import { keyMadeMail } from "./mails.ts";
import type { Session as SignedInSession } from "./sessions.ts";
import type { TooMany } from "./throttle.ts";

export const maxKeys = 10;
export const overlapHours = 24;

type KeyContext = Pick<AccountContext, "db" | "clock" | "throttle" | "mailer" | "baseUrl">;

/** Whose key it is, and where to tell of it. */
export type Owner = Pick<SignedInSession, "accountId" | "email">;

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
  context: KeyContext,
  owner: Owner,
  text: string,
  terms: KeyTerms = unlimitedTerms,
): Promise<CreatedKey | Rejection<"bad_name" | "too_many_keys"> | TooMany> {
  const { db, clock, throttle } = context;
  const { accountId } = owner;
  const name = parseKeyName(text);
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
 * at once, so that at most two keys overlap.
 */
export async function rotateAccountKey(
  context: KeyContext,
  owner: Owner,
  id: number,
): Promise<CreatedKey | Rejection<"no_such_key"> | TooMany> {
  const { db, clock, throttle } = context;
  const { accountId } = owner;
  const refused = await throttle.countAttempts(["keys account", `${accountId}`]);
  if (refused !== null) return refused;
  const made = await db.transaction().execute(async (transaction) => {
    await lockAccount(transaction, accountId);
    const old = await replaceKey(transaction, clock, accountId, id);
    if (old === undefined) return noSuchKey;
    const { name, perMinute, replaces, ...terms } = old;
    if (replaces !== null) await revoke(transaction, clock, accountId, replaces);
    const key = { name, perMinute, accountId, replaces: id, terms };
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
