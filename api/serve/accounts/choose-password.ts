import { sql } from "kysely";
import type { Session } from "../../../projections/database.ts";
import { isRejection, type Rejection, reject } from "../../../projections/domain/rejection.ts";
import type { AccountContext } from "./account-context.ts";
import { type Clock, currentTime } from "./clock.ts";
import { consumeLink, readLink } from "./links.ts";
import { changedMail } from "./mails.ts";
import { type Busy, parsePassword } from "./passwords.ts";
import { createSession, endSessions, type Visitor } from "./sessions.ts";
import { suspended } from "./sign-in.ts";

/** `token` is that of a new session. */
type Chosen = { readonly token: string; readonly email: string; readonly isNew: boolean };

/**
 * Creates the account of a mailed link's address, or sets its password and ends its sessions. Only this uses up the
 * link.
 */
export async function choosePassword(
  context: AccountContext,
  { link, password }: { readonly link: string; readonly password: string },
  visitor: Visitor,
): Promise<Chosen | Rejection<"bad_link" | "bad_password" | "suspended"> | Busy> {
  const { db, clock, passwords, mailer, baseUrl } = context;
  if ((await readLink(db, link, clock)) === null) return badLink;
  const chosen = parsePassword(password);
  if (isRejection(chosen)) return chosen;
  const hashed = await passwords.hash(chosen);
  if (isRejection(hashed)) return hashed;
  const done = await db.transaction().execute(async (transaction) => {
    const email = await consumeLink(transaction, link, clock);
    if (email === null) return badLink;
    const { id, isNew, isSuspended } = await savePassword(transaction, email, hashed, clock);
    await endSessions(transaction, id);
    if (isSuspended) return suspended;
    return { token: await createSession(transaction, id, visitor, clock), email, isNew };
  });
  if (!isRejection(done) && !done.isNew) mailer.send(changedMail({ to: done.email, baseUrl }));
  return done;
}

export const badLink: Rejection<"bad_link"> = reject(
  "bad_link",
  "This link has already been used or has expired. Request a new one.",
);

async function savePassword(transaction: Session, email: string, hashed: string, clock: Clock) {
  const { rows } = await sql<{ id: number; isNew: boolean; isSuspended: boolean }>`
    insert into access.account (email, password, created_at)
    values (${email}, ${hashed}, ${currentTime(clock)})
    on conflict (email) do update set password = excluded.password
    returning id, xmax = 0 as "isNew", suspended_at is not null as "isSuspended"`.execute(
    transaction,
  );
  const [row] = rows;
  if (row === undefined) throw new Error("insert of an account returned no row");
  return row;
}
