import { sql } from "kysely";
import { z } from "zod";
import { type Rejection, reject } from "#projections/domain/rejection.ts";
import type { Database } from "#projections/log/database.ts";
import { accountName } from "../keys/account-name.ts";
import { idleDays, maxAgeDays } from "./sessions.ts";

/** A stored account with the number of its valid keys, tokens and sessions. */
export type StoredAccount = {
  readonly id: number;
  /** Null: a wallet made the account. */
  readonly email: string | null;
  /** The e-mail address, else that of the first wallet. */
  readonly name: string;
  readonly createdAt: Date;
  readonly suspendedAt: Date | null;
  readonly keys: number;
  readonly hasClientKey: boolean;
  readonly tokens: number;
  readonly sessions: number;
  /** In the developer section. */
  readonly lastSeenAt: Date | null;
};

/** How an operator identifies an account. */
export type AccountSelector =
  | { readonly id: number }
  | { readonly email: string }
  | { readonly wallet: string };

/** All accounts, newest first. */
export const readAccounts = (db: Database): Promise<StoredAccount[]> => read(db, sql`true`);

export async function readAccount(
  db: Database,
  which: AccountSelector,
): Promise<StoredAccount | null> {
  const [account] = await read(db, selected(which));
  return account ?? null;
}

function selected(which: AccountSelector) {
  if ("id" in which) return sql<boolean>`a.id = ${which.id}`;
  if ("email" in which) return sql<boolean>`a.email = ${which.email}`;
  return sql<boolean>`a.id in (select account_id from access.wallet where address = ${which.wallet})`;
}

async function read(
  db: Database,
  condition: ReturnType<typeof selected>,
): Promise<StoredAccount[]> {
  const { rows } = await sql<StoredAccount>`
    select a.id, a.email, ${accountName} as name, a.created_at as "createdAt", a.suspended_at as "suspendedAt",
           (select count(*)::int from access.key k
            where k.account_id = a.id and k.revoked_at is null
              and (k.expires_at is null or k.expires_at > now())) as keys,
           exists (select from access.client_key c
                   where c.account_id = a.id and c.revoked_at is null) as "hasClientKey",
           (select count(*)::int from access.bearer_token t
            where t.account_id = a.id and t.revoked_at is null and t.expires_at > now()) as tokens,
           (select count(*)::int from access.session s
            where s.account_id = a.id and s.seen_at > now() - make_interval(days => ${idleDays})
              and s.created_at > now() - make_interval(days => ${maxAgeDays})) as sessions,
           (select max(seen_at) from access.session s where s.account_id = a.id) as "lastSeenAt"
    from access.account a where ${condition} order by a.id desc`.execute(db);
  return rows;
}

/** Suspends or reactivates an account. Returns whether that changed anything. */
export async function setSuspended(
  db: Database,
  id: number,
  isSuspended: boolean,
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update access.account set suspended_at = case when ${isSuspended} then now() end
    where id = ${id} and (suspended_at is null) = ${isSuspended}`.execute(db);
  return numAffectedRows === 1n;
}

/** RFC 5321 §4.5.3.1.3, without its angle brackets. */
const maxLength = 254;

const Email = z.email();

/** An e-mail address in the form that identifies an account: lower case, trimmed. */
export function parseEmail(text: string): string | Rejection<"bad_email"> {
  const email = text.trim().toLowerCase();
  if (email.length <= maxLength && Email.safeParse(email).success) return email;
  return reject("bad_email", "Enter an e-mail address, for example name@example.com");
}

/**
 * The mailbox of an address, for what there is once per mailbox: without a `+tag`, which many servers ignore. Mail never
 * goes to this form, since others do not. `access.account.canonical_email` is the same.
 */
export const canonicalEmail = (email: string): string => email.replace(/^([^+@]+)\+[^@]*@/, "$1@");
