import { sql } from "kysely";
import { isRejection, type Rejection, reject } from "#projections/domain/rejection.ts";
import type { Session } from "#projections/log/database.ts";
import { type Clock, currentTime } from "../keys/clock.ts";
import type { AccountContext } from "./account-context.ts";
import { consumeLink, createLink, readLink } from "./links.ts";
import { changedMail, resetMail, welcomeMail } from "./mail.ts";
import { type Busy, parsePassword } from "./passwords.ts";
import { notePlaces } from "./places.ts";
import { type AccountSession, createSession, endSessions, type Visitor } from "./sessions.ts";
import {
  type BegunSession,
  beginSession,
  checkPassword,
  suspended,
  wrongCurrentPassword,
} from "./sign-in.ts";
import { canonicalEmail, parseEmail } from "./stored-accounts.ts";
import type { TooMany } from "./throttle.ts";

/**
 * Mails a link for choosing a password. Only the mail shows whether an account exists: response and work are the same
 * for every address.
 */
export async function sendLink(
  { db, clock, throttle, mailer, baseUrl }: AccountContext,
  text: string,
  address: string,
): Promise<{ readonly email: string } | Rejection<"bad_email"> | TooMany> {
  const email = parseEmail(text);
  if (isRejection(email)) return email;
  const refused = await throttle.countAttempts(
    ["mail address", address],
    ["mail account", canonicalEmail(email)],
  );
  if (refused !== null) return refused;
  const { link, to, isKnown } = await createLink(db, email, clock);
  const occasion = { to, link, baseUrl };
  mailer.send(isKnown ? resetMail(occasion) : welcomeMail(occasion));
  return { email };
}

type Chosen = BegunSession & { readonly email: string; readonly isNew: boolean };

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
  const known = await readLink(db, link, clock);
  if (known === null) return badLink;
  const chosen = parsePassword(password, known.email);
  if (isRejection(chosen)) return chosen;
  const hashed = await passwords.hash(chosen);
  if (isRejection(hashed)) return hashed;
  const done = await db.transaction().execute(async (transaction) => {
    const email = await consumeLink(transaction, link, clock);
    if (email === null) return badLink;
    const saved = await savePassword(transaction, email, hashed, clock);
    if (saved === null) return badLink;
    const { id, isNew, isSuspended } = saved;
    await endSessions(transaction, id);
    if (isSuspended) return suspended;
    const begun = await beginSession(transaction, context, id, visitor);
    return { ...begun, id, email, isNew };
  });
  if (isRejection(done)) return done;
  if (!done.isNew) mailer.send(changedMail({ to: done.email, baseUrl }));
  const use = { accountId: done.id, address: visitor.address } as const;
  if ("token" in done) await notePlaces(context, [{ ...use, credential: "the password" }]);
  return done;
}

export const badLink: Rejection<"bad_link"> = reject(
  "bad_link",
  "This link has already been used or has expired. Request a new one.",
);

/** Null: another account of this mailbox was made since the link was sent. */
async function savePassword(transaction: Session, email: string, hashed: string, clock: Clock) {
  const { rows } = await sql<{ id: number; isNew: boolean; isSuspended: boolean }>`
    with old as (
      update access.account set password = ${hashed} where email = ${email}
      returning id, false as is_new, suspended_at
    ),
    new as (
      insert into access.account (email, password, created_at)
      select ${email}, ${hashed}, ${currentTime(clock)} where not exists (select from old)
      on conflict do nothing
      returning id, true as is_new, suspended_at
    )
    select id, is_new as "isNew", suspended_at is not null as "isSuspended"
    from (select * from old union all select * from new) saved`.execute(transaction);
  return rows[0] ?? null;
}

type Change = { readonly current: string; readonly password: string };

type ChangeRejection = Rejection<"wrong_password" | "bad_password"> | TooMany | Busy;

/** Changes the password of the signed-in user, ends all sessions, starts a new one and invalidates mailed links. */
export async function changePassword(
  context: AccountContext,
  { accountId, email }: AccountSession,
  { current, password }: Change,
  visitor: Visitor,
): Promise<{ readonly token: string } | ChangeRejection> {
  const { db, clock, passwords, mailer, baseUrl } = context;
  const chosen = parsePassword(password, email ?? "");
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
