import { isRejection } from "#projections/domain/rejection.ts";
import { createAccountKey, revokeAccountKey, rotateAccountKey, createClientKey, revokeClientKey } from "#api/accounts/account-keys.ts";
import { revokeToken } from "#api/accounts/bearer-tokens.ts";
import type { SignedInHandler } from "../page-handler.ts";
import { refusalReply } from "../refusal.ts";
import { rowIdOf } from "../row-id.ts";
import { parseTerms } from "./key-terms-form.ts";
import { type KeysState, keysPage } from "./keys-page.ts";

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
  const { accounts } = developers;
  const name = visit.field("name");
  const page = (state: KeysState) => keysPage(developers, signedIn, state);
  const parsed = parseTerms(visit, accounts.clock);
  if ("wrong" in parsed) return { page: await page({ name, terms: parsed.wrong }), status: 422 };
  const made = await createAccountKey(accounts, signedIn.session, name, parsed.terms);
  if (!isRejection(made)) return { page: await page({ madeKey: { ...made, isRotated: false } }) };
  const { rejected, message } = made;
  const isBadName = rejected === "bad_name";
  return refusalReply(made, await page(isBadName ? { name, badName: message } : { name, message }));
};

export const submitRotation: SignedInHandler = async (developers, visit, signedIn) => {
  const { accounts } = developers;
  const made = await rotateAccountKey(accounts, signedIn.session, rowIdOf(visit));
  const page = (state: KeysState) => keysPage(developers, signedIn, state);
  if (isRejection(made)) return refusalReply(made, await page({ message: made.message }));
  return { page: await page({ madeKey: { ...made, isRotated: true } }) };
};

export const submitRevocation: SignedInHandler = async (developers, visit, signedIn) => {
  const { accountId } = signedIn.session;
  const refused = await revokeAccountKey(developers.accounts, accountId, rowIdOf(visit));
  if (refused === null) return { to: "/developers?done=key-revoked" };
  const { message } = refused;
  return refusalReply(refused, await keysPage(developers, signedIn, { message }));
};

export const submitClientKey: SignedInHandler = async (developers, _visit, signedIn) => {
  const made = await createClientKey(developers.accounts, signedIn.session);
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
  await revokeToken(accounts.db, signedIn.session.accountId, rowIdOf(visit));
  return { to: "/developers?done=token-revoked" };
};
