import { sql } from "kysely";
import type { Database, Session } from "#projections/log/database.ts";
import { hashKey, lastCharacters, makeKey } from "../keys/key-text.ts";
import type { AccountContext } from "./account-context.ts";
import type { Owner } from "./account-keys.ts";
import { type Clock, currentTime } from "./clock.ts";
import { keyMadeMail } from "./mails.ts";
import type { TooMany } from "./throttle.ts";

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
