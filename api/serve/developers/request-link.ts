import { isRejection } from "#projections/domain/rejection.ts";
import { linkHours } from "#api/accounts/links.ts";
import type { Mailer } from "#api/accounts/mail.ts";
import { sendLink } from "#api/accounts/choose-password.ts";
import { type Html, html } from "../html/html.ts";
import { alert, field } from "./form.ts";
import { layout } from "./layout.ts";
import type { OpenHandler } from "./page-handler.ts";
import { refusalReply } from "./refusal.ts";

/** The texts of the two pages that send a link. */
type LinkPage = {
  readonly path: string;
  readonly title: string;
  readonly lead: string;
  readonly button: string;
  readonly below: Html;
};

const signUp: LinkPage = {
  path: "/developers/sign-up",
  title: "Create an account",
  lead: "We send a link to your e-mail address, with which you choose a password.",
  button: "Send the link",
  below: html`<a href="/developers/sign-in">Sign in instead</a>`,
};

const forgot: LinkPage = {
  path: "/developers/forgot",
  title: "Forgotten password",
  lead: "We send a link to your e-mail address, with which you choose a new password.",
  button: "Send the link",
  below: html`<a href="/developers/sign-in">Sign in</a><a href="/developers/sign-up">Create an account</a>`,
};

type State = { readonly email?: string; readonly badEmail?: string; readonly message?: string };

const show =
  (occasion: LinkPage): OpenHandler =>
  async () => ({ page: page(occasion, {}) });

const submit =
  (occasion: LinkPage): OpenHandler =>
  async ({ accounts }, visit) => {
    const text = visit.field("email");
    const sent = await sendLink(accounts, text, visit.visitor.address);
    if (!isRejection(sent)) return { page: sentPage(sent.email, accounts.mailer.delivery) };
    const { rejected, message } = sent;
    const state = rejected === "bad_email" ? { badEmail: message } : { message };
    return refusalReply(sent, page(occasion, { email: text, ...state }));
  };

export const showSignUp = show(signUp);
export const submitSignUp = submit(signUp);
export const showForgot = show(forgot);
export const submitForgot = submit(forgot);

function page({ path, title, lead, button, below }: LinkPage, state: State): Html {
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

const withoutServer: Record<Mailer["delivery"], string | null> = {
  mail: null,
  log: "No mail server is configured here: the link is in the log of the service.",
  none: "No mail server is configured here, so that no mail arrives: tell the operator.",
};

/** The same for every address. */
function sentPage(email: string, delivery: Mailer["delivery"]): Html {
  const hint = withoutServer[delivery];
  const body = html`<h1>Check your e-mail</h1>
<div class="card" role="status">
<p>We sent a link to <strong>${email}</strong>. It works once and expires after ${linkHours} hours.</p>
<p>Nothing there after a few minutes? Check your spam folder, and whether the address is right.</p>
${hint !== null && html`<p class="hint">${hint}</p>`}
</div>
<p class="below"><a href="/developers/sign-in">Sign in</a></p>`;
  return layout({ title: "Check your e-mail", body });
}
