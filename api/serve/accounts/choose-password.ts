import { sql } from "kysely";
import type { Session } from "#projections/log/database.ts";
import { isRejection, type Rejection, reject } from "#projections/domain/rejection.ts";
import type { AccountContext } from "./account-context.ts";
import { type Clock, currentTime } from "./clock.ts";
import { consumeLink, readLink } from "./links.ts";
import { changedMail } from "./mails.ts";
import { type Busy, parsePassword } from "./passwords.ts";
import { endSessions, type Visitor } from "./sessions.ts";
import { beginSession, type SignedIn } from "./sign-in/pending-sign-in.ts";
import { notePlaces } from "./sign-in/places.ts";
import { suspended } from "./sign-in/sign-in.ts";

type Chosen = SignedIn & { readonly email: string; readonly isNew: boolean };

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
