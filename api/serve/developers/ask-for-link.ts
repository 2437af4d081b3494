import { isRejection } from "../../../projections/domain/rejection.ts";
import { askForLink } from "../accounts/ask-for-link.ts";
import { linkHours } from "../accounts/links.ts";
import { alert, field } from "./form.ts";
import { type Html, html } from "./html.ts";
import { layout } from "./layout.ts";
import { refusalReply } from "./refusal.ts";
import type { OpenHandler } from "./visit.ts";

/** The two pages that send a link differ in their words alone. */
type Occasion = {
  readonly path: string;
  readonly title: string;
  readonly lead: string;
  readonly button: string;
  readonly below: Html;
};

const signUp: Occasion = {
  path: "/developers/sign-up",
  title: "Create an account",
  lead: "We send a link to your e-mail address; with it you choose a password.",
  button: "Send the link",
  below: html`<a href="/developers/sign-in">Sign in instead</a>`,
};

const forgot: Occasion = {
  path: "/developers/forgot",
  title: "Forgotten password",
  lead: "We send a link to your e-mail address; with it you choose a new password.",
  button: "Send the link",
  below: html`<a href="/developers/sign-in">Sign in</a><a href="/developers/sign-up">Create an account</a>`,
};

type State = { readonly email?: string; readonly badEmail?: string; readonly message?: string };

const show =
  (occasion: Occasion): OpenHandler =>
  async () => ({ page: page(occasion, {}) });

const take =
  (occasion: Occasion): OpenHandler =>
  async ({ accounts }, visit) => {
    const text = visit.field("email");
    const sent = await askForLink(accounts, text, visit.visitor.address);
    if (!isRejection(sent)) return { page: sentPage(sent.email, accounts.mailer.isLog) };
    const { rejected, message } = sent;
    const state = rejected === "bad_email" ? { badEmail: message } : { message };
    return refusalReply(sent, page(occasion, { email: text, ...state }));
  };

export const showSignUp = show(signUp);
export const takeSignUp = take(signUp);
export const showForgot = show(forgot);
export const takeForgot = take(forgot);

function page({ path, title, lead, button, below }: Occasion, state: State): Html {
  const { email = "", badEmail, message } = state;
  const body = html`<h1>${title}</h1>
<p class="lead">${lead}</p>
${alert(message)}
<form class="card stack" method="post" action="${path}" novalidate>
${field({ name: "email", label: "E-mail address", type: "email", value: email, autocomplete: "email", error: badEmail, hasFocus: true })}
<button class="primary">${button}</button>
</form>
<p class="below">${below}</p>`;
  return layout({ title, body });
}

/** The same for every address. */
function sentPage(email: string, isLog: boolean): Html {
  const body = html`<h1>Look into your mail</h1>
<div class="card" role="status">
<p>A link is on its way to <strong>${email}</strong>. It works once, for ${linkHours} hours.</p>
<p>Nothing there after a few minutes? Look into the folder for spam, and whether the address is right.</p>
${isLog && html`<p class="hint">No mail server is set up here: the link stands in the log of the service.</p>`}
</div>
<p class="below"><a href="/developers/sign-in">Sign in</a></p>`;
  return layout({ title: "Look into your mail", body });
}
