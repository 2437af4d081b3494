import { sql } from "kysely";
import type { Session } from "../../../projections/database.ts";
import { isRejection, type Rejection, reject } from "../../../projections/domain/rejection.ts";
import type { AccountContext } from "./account-context.ts";
import { type Clock, timeOf } from "./clock.ts";
import { readLink, takeLink } from "./links.ts";
import { changedMail } from "./mails.ts";
import { type Busy, passwordOf } from "./passwords.ts";
import { createSession, endSessions, type Visitor } from "./sessions.ts";
import { suspended } from "./sign-in.ts";

/** `token` begins a session. */
type Chosen = { readonly token: string; readonly email: string; readonly isNew: boolean };

/**
 * Makes the account of the address that a link was sent to, or gives it another password; sessions that it had end.
 * A link is used up by that and by nothing else.
 */
export async function choosePassword(
  context: AccountContext,
  { link, password }: { readonly link: string; readonly password: string },
  visitor: Visitor,
): Promise<Chosen | Rejection<"bad_link" | "bad_password" | "suspended"> | Busy> {
  const { db, clock, passwords, mailer, baseUrl } = context;
  if ((await readLink(db, link, clock)) === null) return badLink;
  const chosen = passwordOf(password);
  if (isRejection(chosen)) return chosen;
  const hashed = await passwords.hash(chosen);
  if (isRejection(hashed)) return hashed;
  const done = await db.transaction().execute(async (transaction) => {
    const email = await takeLink(transaction, link, clock);
    if (email === null) return badLink;
    const { id, isNew, isSuspended } = await keepPassword(transaction, email, hashed, clock);
    await endSessions(transaction, id);
    if (isSuspended) return suspended;
    return { token: await createSession(transaction, id, visitor, clock), email, isNew };
  });
  if (!isRejection(done) && !done.isNew) mailer.send(changedMail({ to: done.email, baseUrl }));
  return done;
}

export const badLink: Rejection<"bad_link"> = reject(
  "bad_link",
  "This link was used already, or it is too old. Ask for another one.",
);

async function keepPassword(transaction: Session, email: string, hashed: string, clock: Clock) {
  const { rows } = await sql<{ id: number; isNew: boolean; isSuspended: boolean }>`
    insert into access.account (email, password, created_at)
    values (${email}, ${hashed}, ${timeOf(clock)})
    on conflict (email) do update set password = excluded.password
    returning id, xmax = 0 as "isNew", suspended_at is not null as "isSuspended"`.execute(
    transaction,
  );
  const [row] = rows;
  if (row === undefined) throw new Error("the database kept no account");
  return row;
}
