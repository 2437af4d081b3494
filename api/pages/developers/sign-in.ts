import {
  type BegunSession,
  finishSignIn,
  readPendingSignIn,
  signIn,
} from "#api/accounts/sign-in.ts";
import { signInByWallet } from "#api/accounts/wallets.ts";
import { isRejection, type Rejection } from "#projections/domain/rejection.ts";
import { type Html, html } from "../kit/html.ts";
import { alert, field, notice } from "./form.ts";
import {
  type Developers,
  type DeveloperVisit,
  developerLayout,
  type OpenHandler,
  type Reply,
  refusalReply,
} from "./layout.ts";
import { type FactorNames, factorFields } from "./passkey-section.ts";
import { signedOf, walletButton } from "./wallet-section.ts";

type SignInState = {
  readonly email?: string;
  readonly badEmail?: string | undefined;
  readonly message?: string | undefined;
  readonly done?: string | undefined;
};

/** Messages shown after a redirect to this page. */
const done: ReadonlyMap<string, string> = new Map([["signed-out", "You are signed out."]]);

export const showSignIn: OpenHandler = async (developers, visit, signedIn) =>
  signedIn === null
    ? { page: signInPage(developers, { done: done.get(visit.parameter("done")) }) }
    : { to: "/developers" };

export const submitSignIn: OpenHandler = async (developers, visit, signedIn) => {
  const { accounts } = developers;
  const email = visit.field("email");
  const begun = await signIn(
    accounts,
    { email, password: visit.field("password"), replacedSessionId: signedIn?.session.id ?? null },
    visit.visitor,
  );
  if (!isRejection(begun)) return continueSignIn(developers, visit, begun, "/developers");
  const { rejected, message } = begun;
  const isBadEmail = rejected === "bad_email";
  return refusalReply(
    begun,
    signInPage(developers, isBadEmail ? { email, badEmail: message } : { email, message }),
  );
};

export const submitWalletSignIn: OpenHandler = async (developers, visit, signedIn) => {
  const replacedSessionId = signedIn?.session.id ?? null;
  const signed = { ...signedOf(visit), replacedSessionId };
  const begun = await signInByWallet(developers.accounts, signed, visit.visitor);
  if (!isRejection(begun)) return continueSignIn(developers, visit, begun, "/developers");
  return refusalReply(begun, signInPage(developers, { message: begun.message }));
};

function signInPage(developers: Developers, { email = "", badEmail, message, done }: SignInState) {
  const body = html`<h1>Sign in</h1>
<p class="lead">An account holds the API keys of your programs.</p>
${notice(done)}${alert(message)}
<form class="card stack" method="post" action="/developers/sign-in" novalidate>
${field({ name: "email", label: "E-mail address", type: "email", value: email, autocomplete: "username", error: badEmail, hasFocus: email === "" })}
${field({ name: "password", label: "Password", type: "password", autocomplete: "current-password", hasFocus: email !== "" && badEmail === undefined })}
<button class="primary">Sign in</button>
</form>
<form class="card stack" method="post" action="/developers/sign-in/wallet" novalidate>
${walletButton("Sign in with your wallet", developers)}
<p class="hint">A wallet needs no password and no e-mail address; its first sign-in makes the account.</p>
</form>
<p class="below"><a href="/developers/sign-up">Create an account</a><a href="/developers/forgot">Forgotten password</a></p>`;
  return developerLayout({ title: "Sign in", body });
}

/** After the first proof: to the pages, or first to the second factor. */
export const continueSignIn = async (
  developers: Developers,
  visit: DeveloperVisit,
  begun: BegunSession,
  to: string,
): Promise<Reply> =>
  "token" in begun
    ? { to, sessionToken: begun.token }
    : { page: await factorPage(developers, visit, begun.pending) };

const names: FactorNames = { code: "code", passkey: "passkey" };

export const submitCode: OpenHandler = async (developers, visit) => {
  const pending = visit.field("pending");
  const given = { code: visit.field(names.code), passkey: visit.field(names.passkey) };
  const done = await finishSignIn(developers.accounts, { pending, ...given }, visit.visitor);
  if (!isRejection(done)) return { to: "/developers", sessionToken: done.token };
  if (done.rejected === "sign_in_again") return refusalReply(done, expiredPage(done.message));
  return refusalReply(done, await factorPage(developers, visit, pending, done));
};

async function factorPage(
  developers: Developers,
  visit: DeveloperVisit,
  pending: string,
  refused?: Rejection,
): Promise<Html> {
  const accountId = await readPendingSignIn(developers.accounts, pending);
  if (accountId === null) return expiredPage("This sign-in has expired.");
  const asked = { accountId, subject: pending };
  const title = "Second factor";
  const body = html`<h1>${title}</h1>
<p class="lead">One more step.</p>
<form class="card stack" method="post" action="/developers/sign-in/code" novalidate>
<input type="hidden" name="pending" value="${pending}">
${await factorFields(developers, asked, visit, { names, refused, button: "Sign in" })}
</form>
<p class="below"><a href="/developers/sign-in">Start again</a></p>`;
  return developerLayout({ title, body });
}

function expiredPage(message: string): Html {
  const title = "Sign in again";
  const body = html`<h1>${title}</h1>
<p class="alert" role="alert">${message}</p>
<p class="below"><a href="/developers/sign-in">Sign in</a></p>`;
  return developerLayout({ title, body });
}
