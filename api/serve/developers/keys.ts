import { isRejection } from "../../../projections/domain/rejection.ts";
import { createAccountKey, revokeAccountKey, rotateAccountKey } from "../accounts/account-keys.ts";
import { revokeToken } from "../accounts/bearer-tokens.ts";
import { createClientKey, revokeClientKey } from "../accounts/client-keys.ts";
import { type KeysState, keysPage } from "./keys-page.ts";
import type { SignedInHandler, Visit } from "./page-handler.ts";
import { refusalReply } from "./refusal.ts";

/** Messages shown after a form redirects back to the keys page. */
const done: ReadonlyMap<string, string> = new Map([
  ["welcome", "Your account is ready."],
  ["password", "Your new password is set. Other sessions were ended."],
  ["key-revoked", "The key is revoked. Requests with it fail from now on."],
  ["client-key-revoked", "The client key and all its tokens are revoked."],
  ["token-revoked", "The token is revoked."],
]);

export const showKeys: SignedInHandler = async (developers, visit, signedIn) => ({
  page: await keysPage(developers, signedIn, { done: done.get(visit.parameter("done")) }),
});

export const submitKey: SignedInHandler = async (developers, visit, signedIn) => {
  const name = visit.field("name");
  const made = await createAccountKey(developers.accounts, signedIn.session.accountId, name);
  const page = (state: KeysState) => keysPage(developers, signedIn, state);
  if (!isRejection(made)) return { page: await page({ madeKey: { ...made, isRotated: false } }) };
  const { rejected, message } = made;
  const isBadName = rejected === "bad_name";
  return refusalReply(made, await page(isBadName ? { name, badName: message } : { name, message }));
};

export const submitRotation: SignedInHandler = async (developers, visit, signedIn) => {
  const { accountId } = signedIn.session;
  const made = await rotateAccountKey(developers.accounts, accountId, idOf(visit));
  const page = (state: KeysState) => keysPage(developers, signedIn, state);
  if (isRejection(made)) return refusalReply(made, await page({ message: made.message }));
  return { page: await page({ madeKey: { ...made, isRotated: true } }) };
};

export const submitRevocation: SignedInHandler = async (developers, visit, signedIn) => {
  const { accountId } = signedIn.session;
  const refused = await revokeAccountKey(developers.accounts, accountId, idOf(visit));
  if (refused === null) return { to: "/developers?done=key-revoked" };
  const { message } = refused;
  return refusalReply(refused, await keysPage(developers, signedIn, { message }));
};

export const submitClientKey: SignedInHandler = async (developers, _visit, signedIn) => {
  const made = await createClientKey(developers.accounts, signedIn.session.accountId);
  const page = (state: KeysState) => keysPage(developers, signedIn, state);
  if (isRejection(made)) return refusalReply(made, await page({ message: made.message }));
  return { page: await page({ madeClientKey: made.key }) };
};

export const submitClientKeyRevocation: SignedInHandler = async (
  { accounts },
  _visit,
  signedIn,
) => {
  await revokeClientKey(accounts, signedIn.session.accountId);
  return { to: "/developers?done=client-key-revoked" };
};

export const submitTokenRevocation: SignedInHandler = async ({ accounts }, visit, signedIn) => {
  await revokeToken(accounts.db, signedIn.session.accountId, idOf(visit));
  return { to: "/developers?done=token-revoked" };
};

/** The row id in the path; 0, which no row has, if it is not a number. */
function idOf(visit: Visit): number {
  const id = visit.parameter("id");
  return /^\d{1,9}$/.test(id) ? Number(id) : 0;
}
