import { isRejection } from "#projections/domain/rejection.ts";
import { signIn } from "#api/accounts/sign-in.ts";
import { html } from "../html/html.ts";
import { alert, field, notice } from "./form.ts";
import { layout } from "./layout.ts";
import type { OpenHandler } from "./page-handler.ts";
import { refusalReply } from "./refusal.ts";
import { continueSignIn } from "./sign-in-code.ts";

type State = {
  readonly email?: string;
  readonly badEmail?: string | undefined;
  readonly message?: string | undefined;
  readonly done?: string | undefined;
};

/** Messages shown after a redirect to this page. */
const done: ReadonlyMap<string, string> = new Map([["signed-out", "You are signed out."]]);

export const showSignIn: OpenHandler = async (_developers, visit, signedIn) =>
  signedIn === null
    ? { page: page({ done: done.get(visit.parameter("done")) }) }
    : { to: "/developers" };

export const submitSignIn: OpenHandler = async ({ accounts }, visit, signedIn) => {
  const email = visit.field("email");
  const begun = await signIn(
    accounts,
    { email, password: visit.field("password"), replacedSessionId: signedIn?.session.id ?? null },
    visit.visitor,
  );
  if (!isRejection(begun)) return continueSignIn(begun, "/developers");
  const { rejected, message } = begun;
  const isBadEmail = rejected === "bad_email";
  return refusalReply(begun, page(isBadEmail ? { email, badEmail: message } : { email, message }));
};

function page({ email = "", badEmail, message, done }: State) {
  const body = html`<h1>Sign in</h1>
<p class="lead">An account holds the API keys of your programs.</p>
${notice(done)}${alert(message)}
<form class="card stack" method="post" action="/developers/sign-in" novalidate>
${field({ name: "email", label: "E-mail address", type: "email", value: email, autocomplete: "username", error: badEmail, hasFocus: email === "" })}
${field({ name: "password", label: "Password", type: "password", autocomplete: "current-password", hasFocus: email !== "" && badEmail === undefined })}
<button class="primary">Sign in</button>
</form>
<p class="below"><a href="/developers/sign-up">Create an account</a><a href="/developers/forgot">Forgotten password</a></p>`;
  return layout({ title: "Sign in", body });
}
