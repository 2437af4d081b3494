import { sql } from "kysely";
import type { Database } from "../../../projections/database.ts";
import { isRejection, type Rejection, reject } from "../../../projections/domain/rejection.ts";
import type { AccountContext } from "./account-context.ts";
import { emailOf } from "./email.ts";
import type { Busy } from "./passwords.ts";
import { createSession, type Visitor } from "./sessions.ts";
import type { TooMany } from "./throttle.ts";

type SignIn = {
  readonly email: string;
  readonly password: string;
  /** The session that the browser has already: it ends. */
  readonly replaces: number | null;
};

type Refused = Rejection<"wrong_password" | "bad_email" | "suspended"> | TooMany | Busy;

/**
 * Begins a session. An address without an account and a wrong password are told alike and cost the same work; that an
 * account is suspended is told to who knows its password.
 */
export async function signIn(
  { db, clock, throttle, passwords }: AccountContext,
  { email: text, password, replaces }: SignIn,
  visitor: Visitor,
): Promise<{ readonly token: string } | Refused> {
  const email = emailOf(text);
  if (isRejection(email)) return email;
  const tries = [
    ["sign-in address", visitor.address],
    ["sign-in account", email],
  ] as const;
  const refused = await throttle.take(...tries);
  if (refused !== null) return refused;
  const kept = await readPassword(db, { email });
  const isRight = await passwords.matches(password, kept?.password ?? null);
  if (isRight === false || kept === null) return wrong;
  await throttle.giveBack(...tries);
  if (isRejection(isRight)) return isRight;
  if (kept.isSuspended) return suspended;
  return await db.transaction().execute(async (transaction) => {
    // A password that was changed meanwhile lets nobody in any more.
    const { rows } = await sql`
      select from access.account where id = ${kept.id} and password = ${kept.password}
      for update`.execute(transaction);
    if (rows.length === 0) return wrong;
    await sql`delete from access.session where id = ${replaces}`.execute(transaction);
    return { token: await createSession(transaction, kept.id, visitor, clock) };
  });
}

const wrong: Rejection<"wrong_password"> = reject(
  "wrong_password",
  "No account has this e-mail address and this password",
);

export const suspended: Rejection<"suspended"> = reject(
  "suspended",
  "This account is suspended. Write to the operator of this service.",
);

type KeptPassword = {
  readonly id: number;
  readonly email: string;
  readonly password: string;
  readonly isSuspended: boolean;
};

export async function readPassword(
  db: Database,
  whose: { readonly email: string } | { readonly id: number },
): Promise<KeptPassword | null> {
  const chosen = "id" in whose ? sql`id = ${whose.id}` : sql`email = ${whose.email}`;
  const { rows } = await sql<KeptPassword>`
    select id, email, password, suspended_at is not null as "isSuspended"
    from access.account where ${chosen}`.execute(db);
  return rows[0] ?? null;
}
