import { sql } from "kysely";
import { isRejection, type Rejection } from "#projections/domain/rejection.ts";
import type { AccountContext } from "./account-context.ts";
import { changedMail } from "./mails.ts";
import { type Busy, parsePassword } from "./passwords.ts";
import { createSession, endSessions, type Session, type Visitor } from "./sessions.ts";
import { checkPassword, wrongCurrentPassword } from "./sign-in/reauthenticate.ts";
import type { TooMany } from "./throttle.ts";

type Change = { readonly current: string; readonly password: string };

type Refused = Rejection<"wrong_password" | "bad_password"> | TooMany | Busy;

/** Changes the password of the signed-in user, ends all sessions, starts a new one and invalidates mailed links. */
export async function changePassword(
  context: AccountContext,
  { accountId, email }: Session,
  { current, password }: Change,
  visitor: Visitor,
): Promise<{ readonly token: string } | Refused> {
  const { db, clock, passwords, mailer, baseUrl } = context;
  const chosen = parsePassword(password, email);
  if (isRejection(chosen)) return chosen;
  const kept = await checkPassword(context, accountId, current);
  if (isRejection(kept)) return kept;
  const hashed = await passwords.hash(chosen);
  if (isRejection(hashed)) return hashed;
  const done = await db.transaction().execute(async (transaction) => {
    const { numAffectedRows } = await sql`
      update access.account set password = ${hashed}
      where id = ${accountId} and password = ${kept.password}`.execute(transaction);
    if (numAffectedRows !== 1n) return wrongCurrentPassword;
    await sql`delete from access.link where email = ${kept.email}`.execute(transaction);
    await endSessions(transaction, accountId);
    return { token: await createSession(transaction, accountId, visitor, clock) };
  });
  if (!isRejection(done)) mailer.send(changedMail({ to: kept.email, baseUrl }));
  return done;
}
