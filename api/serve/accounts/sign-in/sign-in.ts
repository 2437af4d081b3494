import { sql } from "kysely";
import type { Database } from "#projections/log/database.ts";
import { isRejection, type Rejection, reject } from "#projections/domain/rejection.ts";
import type { AccountContext } from "../account-context.ts";
import { parseEmail } from "../email.ts";
import type { Busy } from "../passwords.ts";
import type { Visitor } from "../sessions.ts";
import type { TooMany } from "../throttle.ts";
import { beginSession, type SignedIn } from "./pending-sign-in.ts";
import { notePlaces } from "./places.ts";

type SignIn = {
  readonly email: string;
  readonly password: string;
  /** The browser's existing session, which ends. */
  readonly replacedSessionId: number | null;
};

type Refused = Rejection<"wrong_password" | "bad_email" | "suspended"> | TooMany | Busy;

/**
 * Starts a session. An unknown address and a wrong password give the same answer for the same work; a suspension is
 * reported only after the right password. With a second factor the session begins after its code.
 */
export async function signIn(
  context: AccountContext,
  { email: text, password, replacedSessionId }: SignIn,
  visitor: Visitor,
): Promise<SignedIn | Refused> {
  const { db, throttle, passwords } = context;
  const email = parseEmail(text);
  if (isRejection(email)) return email;
  const tries = [
    ["sign-in address", visitor.address],
    ["sign-in account", email],
  ] as const;
  const refused = await throttle.countAttempts(...tries);
  if (refused !== null) return refused;
  const kept = await readPassword(db, { email });
  const isRight = await passwords.matches(password, kept?.password ?? null);
  // Before it is said whether there is such an account.
  if (isRejection(isRight)) {
    await throttle.refund(...tries);
    return isRight;
  }
  if (!isRight || kept === null) return wrongPassword;
  // Once these are spent the password is a try like any other: its hashes stay bounded.
  const spent = await throttle.countAttempts(["right passwords account", `${kept.id}`]);
  if (spent !== null) return spent;
  await throttle.refund(...tries);
  if (kept.isSuspended) return suspended;
  const begun = await db.transaction().execute(async (transaction) => {
    // The password may have been changed since it was read.
    const { rows } = await sql`
      select from access.account where id = ${kept.id} and password = ${kept.password}
      for update`.execute(transaction);
    if (rows.length === 0) return wrongPassword;
    await sql`delete from access.session where id = ${replacedSessionId}`.execute(transaction);
    return await beginSession(transaction, context, kept.id, visitor);
  });
  if ("token" in begun) {
    const use = { accountId: kept.id, address: visitor.address } as const;
    await notePlaces(context, [{ ...use, credential: "the password" }]);
  }
  return begun;
}

const wrongPassword: Rejection<"wrong_password"> = reject(
  "wrong_password",
  "No account has this e-mail address and this password",
);

export const suspended: Rejection<"suspended"> = reject(
  "suspended",
  "This account is suspended. Contact the operator of this service.",
);

export type StoredPassword = {
  readonly id: number;
  readonly email: string;
  readonly password: string;
  readonly isSuspended: boolean;
};

export async function readPassword(
  db: Database,
  whose: { readonly email: string } | { readonly id: number },
): Promise<StoredPassword | null> {
  const chosen = "id" in whose ? sql`id = ${whose.id}` : sql`email = ${whose.email}`;
  const { rows } = await sql<StoredPassword>`
    select id, email, password, suspended_at is not null as "isSuspended"
    from access.account where ${chosen}`.execute(db);
  return rows[0] ?? null;
}
