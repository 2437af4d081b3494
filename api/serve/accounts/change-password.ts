import { sql } from "kysely";
import { isRejection, type Rejection, reject } from "../../../projections/domain/rejection.ts";
import type { AccountContext } from "./account-context.ts";
import { changedMail } from "./mails.ts";
import { type Busy, parsePassword } from "./passwords.ts";
import { createSession, endSessions, type Session, type Visitor } from "./sessions.ts";
import { readPassword } from "./sign-in.ts";
import type { TooMany } from "./throttle.ts";

type Change = { readonly current: string; readonly password: string };

type Refused = Rejection<"wrong_password" | "bad_password"> | TooMany | Busy;

/** Changes the password of the signed-in user, ends all sessions, starts a new one and invalidates mailed links. */
export async function changePassword(
  context: AccountContext,
  { accountId }: Session,
  { current, password }: Change,
  visitor: Visitor,
): Promise<{ readonly token: string } | Refused> {
  const { db, clock, throttle, passwords, mailer, baseUrl } = context;
  const chosen = parsePassword(password);
  if (isRejection(chosen)) return chosen;
  const tries = [["password account", `${accountId}`]] as const;
  const refused = await throttle.countAttempts(...tries);
  if (refused !== null) return refused;
  const kept = await readPassword(db, { id: accountId });
  const isRight = await passwords.matches(current, kept?.password ?? null);
  if (isRight === false || kept === null) return wrongCurrentPassword;
  await throttle.refund(...tries);
  if (isRejection(isRight)) return isRight;
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

const wrongCurrentPassword: Rejection<"wrong_password"> = reject(
  "wrong_password",
  "This is not your current password",
);
