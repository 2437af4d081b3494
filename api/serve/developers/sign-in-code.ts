import { isRejection } from "#projections/domain/rejection.ts";
import { finishSignIn, type BegunSession } from "#api/accounts/sign-in.ts";
import { type Html, html } from "../html/html.ts";
import { alert, codeField } from "./form.ts";
import { layout } from "./layout.ts";
import type { OpenHandler, Reply } from "./page-handler.ts";
import { refusalReply } from "./refusal.ts";

/** After the right password: to the pages, or first to the code of the second factor. */
export const continueSignIn = (begun: BegunSession, to: string): Reply =>
  "token" in begun ? { to, sessionToken: begun.token } : { page: page(begun.pending, {}) };

export const submitCode: OpenHandler = async ({ accounts }, visit) => {
  const pending = visit.field("pending");
  const code = visit.field("code");
  const done = await finishSignIn(accounts, { pending, code }, visit.visitor);
  if (!isRejection(done)) return { to: "/developers", sessionToken: done.token };
  const { rejected, message } = done;
  if (rejected === "sign_in_again") return refusalReply(done, expiredPage(message));
  const state = rejected === "wrong_code" ? { badCode: message } : { message };
  return refusalReply(done, page(pending, state));
};

type State = { readonly badCode?: string; readonly message?: string };

function page(pending: string, { badCode, message }: State): Html {
  const title = "Second factor";
  const body = html`<h1>${title}</h1>
<p class="lead">Your password is right. Now a code.</p>
${alert(message)}
<form class="card stack" method="post" action="/developers/sign-in/code" novalidate>
<input type="hidden" name="pending" value="${pending}">
${codeField("code", badCode)}
<button class="primary">Sign in</button>
</form>
<p class="below"><a href="/developers/sign-in">Start again</a></p>`;
  return layout({ title, body });
}

function expiredPage(message: string): Html {
  const title = "Sign in again";
  const body = html`<h1>${title}</h1>
<p class="alert" role="alert">${message}</p>
<p class="below"><a href="/developers/sign-in">Sign in</a></p>`;
  return layout({ title, body });
}
