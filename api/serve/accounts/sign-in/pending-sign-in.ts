import { sql } from "kysely";
import type { Session as DatabaseSession } from "#projections/log/database.ts";
import { type Rejection, reject } from "#projections/domain/rejection.ts";
import { hashKey, isSecret, makeKey } from "#api/serve/keys/key-text.ts";
import type { AccountContext } from "../account-context.ts";
import { currentTime } from "../clock.ts";
import { createSession, type Visitor } from "../sessions.ts";
import type { TooMany } from "../throttle.ts";
import { notePlaces } from "./places.ts";
import { consumeCode } from "./second-factor.ts";

const pendingMinutes = 10;

/** A session's token, or the token of a sign-in that awaits the code of the second factor. */
export type SignedIn = { readonly token: string } | { readonly pending: string };

/** After the right password: a session, or a sign-in that awaits a code. */
export async function beginSession(
  transaction: DatabaseSession,
  { clock }: Pick<AccountContext, "clock">,
  accountId: number,
  visitor: Visitor,
): Promise<SignedIn> {
  const pending = makeKey("signIn");
  const { numAffectedRows } = await sql`
    insert into access.pending_sign_in (hash, account_id, expires_at)
    select ${hashKey(pending)}, account_id, ${currentTime(clock)} + make_interval(mins => ${pendingMinutes})
    from access.second_factor where account_id = ${accountId} and confirmed_at is not null`.execute(
    transaction,
  );
  if (numAffectedRows === 1n) return { pending };
  return { token: await createSession(transaction, accountId, visitor, clock) };
}

/** Ends a sign-in by the code of the second factor, or a recovery code. */
export async function finishSignIn(
  context: AccountContext,
  { pending, code }: { readonly pending: string; readonly code: string },
  visitor: Visitor,
): Promise<{ readonly token: string } | Rejection<"wrong_code" | "sign_in_again"> | TooMany> {
  const { db, clock } = context;
  if (!isSecret("signIn", pending)) return signInAgain;
  const { rows } = await sql<{ accountId: number }>`
    select account_id as "accountId"
    from access.pending_sign_in p join access.account a on a.id = p.account_id
    where p.hash = ${hashKey(pending)} and p.expires_at > ${currentTime(clock)}
      and a.suspended_at is null`.execute(db);
  const [row] = rows;
  if (row === undefined) return signInAgain;
  const { accountId } = row;
  const refused = await consumeCode(context, accountId, code);
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
