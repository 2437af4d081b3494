import { sql } from "kysely";
import { isRejection, type Rejection, reject } from "#projections/domain/rejection.ts";
import type { AccountContext } from "../account-context.ts";
import { currentTime } from "../clock.ts";
import type { Busy } from "../passwords.ts";
import type { Session } from "../sessions.ts";
import type { TooMany } from "../throttle.ts";
import { consumeCode, readSecondFactor } from "./second-factor.ts";
import { readPassword, type StoredPassword } from "./sign-in.ts";

/** Whether the user of a session has proved lately to be the owner. */
export const isRecent = (
  { reauthenticationMinutes }: Pick<AccountContext, "reauthenticationMinutes">,
  { authenticatedMsAgo }: Session,
): boolean => authenticatedMsAgo < reauthenticationMinutes * 60_000;

type Refused = Rejection<"wrong_password" | "wrong_code"> | TooMany | Busy;

/** The proof again, for what needs a recent one: a code where there is a second factor, else the password. */
export async function reauthenticate(
  context: AccountContext,
  session: Session,
  given: { readonly password: string; readonly code: string },
): Promise<Refused | null> {
  const { db, clock } = context;
  const { id, accountId } = session;
  const { isOn } = await readSecondFactor(db, accountId);
  const refused = isOn
    ? await consumeCode(context, accountId, given.code)
    : await checkPassword(context, accountId, given.password);
  if (refused !== null && isRejection(refused)) return refused;
  await sql`update access.session set authenticated_at = ${currentTime(clock)} where id = ${id}`.execute(
    db,
  );
  return null;
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
