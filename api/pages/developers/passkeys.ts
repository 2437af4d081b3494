import {
  addPasskey,
  offerPasskey,
  parsePasskeyName,
  removePasskey,
} from "#api/accounts/passkeys.ts";
import { isRejection, type Rejection } from "#projections/domain/rejection.ts";
import { html } from "../kit/html.ts";
import { showAccountWith } from "./account.ts";
import {
  type Developers,
  type DeveloperVisit,
  developerLayout,
  type Reply,
  refusalReply,
  type SignedIn,
  type SignedInHandler,
} from "./layout.ts";
import { passkeyButton, passkeysPath } from "./passkey-section.ts";
import { codesPage } from "./second-factor.ts";

/** Takes the name of a new passkey, and shows the button that makes it. */
export const submitPasskey: SignedInHandler = async (developers, visit, signedIn) => {
  const name = parsePasskeyName(visit.field("passkey-name"));
  return isRejection(name)
    ? await refusedOnAccount(developers, signedIn, name)
    : await offer(developers, visit, signedIn, name);
};

/** Where the answer is refused another one can be given: its challenge is used up. */
export const submitNewPasskey: SignedInHandler = async (developers, visit, signedIn) => {
  const name = visit.field("passkey-name");
  const given = { name, answer: visit.field("passkey") };
  const added = await addPasskey(developers.accounts, signedIn.session, given);
  if (isRejection(added)) return await refusedOnAccount(developers, signedIn, added);
  return added.codes === null
    ? { to: "/developers/account?done=passkey" }
    : { page: codesPage(signedIn, added.codes) };
};

export const submitPasskeyRemoval: SignedInHandler = async ({ accounts }, visit, { session }) => {
  const id = visit.key("id");
  if (/^\d{1,9}$/.test(id)) await removePasskey(accounts, session, Number(id));
  return { to: "/developers/account?done=passkey-removed" };
};

async function refusedOnAccount(
  developers: Developers,
  signedIn: SignedIn,
  refused: Rejection & Parameters<typeof refusalReply>[0],
): Promise<Reply> {
  const { message } = refused;
  return refusalReply(refused, await showAccountWith(developers, signedIn, { message }));
}

async function offer(
  developers: Developers,
  visit: DeveloperVisit,
  signedIn: SignedIn,
  name: string,
): Promise<Reply> {
  const { session, formToken } = signedIn;
  const options = await offerPasskey(developers.accounts, session, visit.visitor.address);
  if (options === null) return { to: "/developers/account" };
  if (isRejection(options)) return await refusedOnAccount(developers, signedIn, options);
  const title = `Add the passkey ${name}`;
  const body = html`<h1>${title}</h1>
<p class="lead">The browser asks which device or key is to have it.</p>
<form class="card stack" method="post" action="${passkeysPath}/confirm" novalidate>
<input type="hidden" name="form" value="${formToken}">
<input type="hidden" name="passkey-name" value="${name}">
${passkeyButton({ name: "passkey", label: "Make the passkey", kind: "create", options })}
</form>
<p class="below"><a href="/developers/account">Back to the account</a></p>`;
  return {
    page: developerLayout({ title, body, signedIn, current: "account", isFormResult: true }),
  };
}
