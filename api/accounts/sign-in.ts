import { sql } from "kysely";
import { isRejection, type Rejection, reject } from "#projections/domain/rejection.ts";
import type { Database, Session as DatabaseSession } from "#projections/log/database.ts";
import { type Clock, currentTime } from "../keys/clock.ts";
import { hashKey, isSecret, makeKey } from "../keys/key-text.ts";
import type { AccountContext } from "./account-context.ts";
import { consumePasskey, type PasskeySubject, sessionSubject } from "./passkeys.ts";
import type { Busy } from "./passwords.ts";
import { notePlaces } from "./places.ts";
import { consumeCode, hasSecondFactor, isOn, readSecondFactor } from "./second-factor.ts";
import { type AccountSession, createSession, type Visitor } from "./sessions.ts";
import { parseEmail } from "./stored-accounts.ts";
import type { TooMany } from "./throttle.ts";

type SignIn = {
  readonly email: string;
  readonly password: string;
  /** The browser's existing session, which ends. */
  readonly replacedSessionId: number | null;
};

type SignInRejection = Rejection<"wrong_password" | "bad_email" | "suspended"> | TooMany | Busy;

/**
 * Starts a session. An unknown address and a wrong password give the same answer for the same work; a suspension is
 * reported only after the right password. With a second factor the session begins after its code.
 */
export async function signIn(
  context: AccountContext,
  { email: text, password, replacedSessionId }: SignIn,
  visitor: Visitor,
): Promise<BegunSession | SignInRejection> {
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

type StoredPassword = {
  readonly id: number;
  readonly email: string;
  readonly password: string;
  readonly isSuspended: boolean;
};

async function readPassword(
  db: Database,
  whose: { readonly email: string } | { readonly id: number },
): Promise<StoredPassword | null> {
  const chosen = "id" in whose ? sql`id = ${whose.id}` : sql`email = ${whose.email}`;
  const { rows } = await sql<StoredPassword>`
    select id, email, password, suspended_at is not null as "isSuspended"
    from access.account where ${chosen} and password is not null`.execute(db);
  return rows[0] ?? null;
}

const pendingMinutes = 10;

/** A session's token, or the token of a sign-in that awaits the second factor. */
export type BegunSession = { readonly token: string } | { readonly pending: string };

/** After the first proof: a session, or a sign-in that awaits the second factor. */
export async function beginSession(
  transaction: DatabaseSession,
  { clock }: Pick<AccountContext, "clock">,
  accountId: number,
  visitor: Visitor,
): Promise<BegunSession> {
  const pending = makeKey("signIn");
  const { numAffectedRows } = await sql`
    insert into access.pending_sign_in (hash, account_id, expires_at)
    select ${hashKey(pending)}, account_id, ${currentTime(clock)} + make_interval(mins => ${pendingMinutes})
    from (select ${accountId}::int as account_id) account where ${hasSecondFactor(accountId)}`.execute(
    transaction,
  );
  if (numAffectedRows === 1n) return { pending };
  return { token: await createSession(transaction, accountId, visitor, clock) };
}

/** The account of a sign-in that awaits the second factor; null: it is over. */
export async function readPendingSignIn(
  { db, clock }: Pick<AccountContext, "db" | "clock">,
  pending: string,
): Promise<number | null> {
  if (!isSecret("signIn", pending)) return null;
  const { rows } = await sql<{ accountId: number }>`
    select account_id as "accountId"
    from access.pending_sign_in p join access.account a on a.id = p.account_id
    where p.hash = ${hashKey(pending)} and p.expires_at > ${currentTime(clock)}
      and a.suspended_at is null`.execute(db);
  return rows[0]?.accountId ?? null;
}

/** What is given of the second factor: a code, a recovery code, or the answer of a passkey; "" is none. */
export type SecondProof = { readonly code: string; readonly passkey: string };

type WrongProof = Rejection<"wrong_code" | "wrong_passkey"> | TooMany;

/** Uses up a proof of the second factor. Null: it was right. */
const consumeProof = (
  context: AccountContext,
  asked: PasskeySubject,
  { code, passkey }: SecondProof,
): Promise<WrongProof | null> =>
  passkey === ""
    ? consumeCode(context, asked.accountId, code)
    : consumePasskey(context, asked, passkey);

/** Ends a sign-in by the second factor. */
export async function finishSignIn(
  context: AccountContext,
  { pending, ...given }: SecondProof & { readonly pending: string },
  visitor: Visitor,
): Promise<{ readonly token: string } | WrongProof | Rejection<"sign_in_again">> {
  const { db, clock } = context;
  const accountId = await readPendingSignIn(context, pending);
  if (accountId === null) return signInAgain;
  const refused = await consumeProof(context, { accountId, subject: pending }, given);
  if (refused !== null) return refused;
  const token = await db.transaction().execute(async (transaction) => {
    const { numAffectedRows } = await sql`
      delete from access.pending_sign_in where hash = ${hashKey(pending)}`.execute(transaction);
    return numAffectedRows === 1n
      ? await createSession(transaction, accountId, visitor, clock)
      : null;
  });
  if (token === null) return signInAgain;
  await notePlaces(context, [{ accountId, address: visitor.address, credential: "the password" }]);
  return { token };
}

const signInAgain: Rejection<"sign_in_again"> = reject(
  "sign_in_again",
  "This sign-in has expired. Sign in again.",
);

/** Whether the user of a session has proved lately to be the owner. */
export const isRecent = (
  { reauthenticationMinutes }: Pick<AccountContext, "reauthenticationMinutes">,
  { authenticatedMsAgo }: AccountSession,
): boolean => authenticatedMsAgo < reauthenticationMinutes * 60_000;

type ProofRejection = Rejection<"wrong_password"> | WrongProof | Busy;

/** The proof again, for what needs a recent one: of the second factor where there is one, else the password. */
export async function reauthenticate(
  context: AccountContext,
  session: AccountSession,
  given: SecondProof & { readonly password: string },
): Promise<ProofRejection | null> {
  const { db, clock } = context;
  const { id, accountId } = session;
  const factor = await readSecondFactor(db, accountId);
  const refused = isOn(factor)
    ? await consumeProof(context, { accountId, subject: sessionSubject(session) }, given)
    : await checkPassword(context, accountId, given.password);
  if (refused !== null && isRejection(refused)) return refused;
  await noteProof(db, clock, id);
  return null;
}

/** The user of a session has just proved to be the owner. */
export async function noteProof(db: DatabaseSession, clock: Clock, id: number): Promise<void> {
  await sql`update access.session set authenticated_at = ${currentTime(clock)} where id = ${id}`.execute(
    db,
  );
}

/** What is stored of an account, if this is its password. Attempts are bounded by account. */
export async function checkPassword(
  { db, throttle, passwords }: AccountContext,
  accountId: number,
  password: string,
): Promise<StoredPassword | Rejection<"wrong_password"> | TooMany | Busy> {
  const tries = [["password account", `${accountId}`]] as const;
  const refused = await throttle.countAttempts(...tries);
  if (refused !== null) return refused;
  const kept = await readPassword(db, { id: accountId });
  const isRight = await passwords.matches(password, kept?.password ?? null);
  if (isRejection(isRight)) {
    await throttle.refund(...tries);
    return isRight;
  }
  if (!isRight || kept === null) return wrongCurrentPassword;
  const spent = await throttle.countAttempts(["right passwords account", `${accountId}`]);
  if (spent !== null) return spent;
  await throttle.refund(...tries);
  return kept;
}

export const wrongCurrentPassword: Rejection<"wrong_password"> = reject(
  "wrong_password",
  "This is not your current password",
);
