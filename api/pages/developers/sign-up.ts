import { badLink, choosePassword, sendLink } from "#api/accounts/choose-password.ts";
import { linkHours, readLink } from "#api/accounts/links.ts";
import type { Mailer } from "#api/accounts/mail.ts";
import { minPasswordLength } from "#api/accounts/passwords.ts";
import { isRejection } from "#projections/domain/rejection.ts";
import { type Html, html } from "../kit/html.ts";
import { alert, field } from "./form.ts";
import {
  type Developers,
  developerLayout,
  type OpenHandler,
  type Reply,
  refusalReply,
} from "./layout.ts";
import { continueSignIn } from "./sign-in.ts";

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

type LinkState = { readonly email?: string; readonly badEmail?: string; readonly message?: string };

const show =
  (occasion: LinkPage): OpenHandler =>
  async () => ({ page: linkPage(occasion, {}) });

const submit =
  (occasion: LinkPage): OpenHandler =>
  async ({ accounts }, visit) => {
    const text = visit.field("email");
    const sent = await sendLink(accounts, text, visit.visitor.address);
    if (!isRejection(sent)) return { page: sentPage(sent.email, accounts.mailer.delivery) };
    const { rejected, message } = sent;
    const state = rejected === "bad_email" ? { badEmail: message } : { message };
    return refusalReply(sent, linkPage(occasion, { email: text, ...state }));
  };

export const showSignUp = show(signUp);
export const submitSignUp = submit(signUp);
export const showForgot = show(forgot);
export const submitForgot = submit(forgot);

function linkPage({ path, title, lead, button, below }: LinkPage, state: LinkState): Html {
  const { email = "", badEmail, message } = state;
  const body = html`<h1>${title}</h1>
<p class="lead">${lead}</p>
${alert(message)}
<form class="card stack" method="post" action="${path}" novalidate>
${field({ name: "email", label: "E-mail address", type: "email", value: email, autocomplete: "email", error: badEmail, hasFocus: true })}
<button class="primary">${button}</button>
</form>
<p class="below">${below}</p>`;
  return developerLayout({ title, body });
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
  return developerLayout({ title: "Check your e-mail", body });
}

/** A GET does not use up the link: mail programs open links to scan them. */
export const showConfirm: OpenHandler = async (developers, visit) =>
  await reply(developers, visit.parameter("link"), {});

export const submitConfirm: OpenHandler = async (developers, visit) => {
  const link = visit.field("link");
  const given = { link, password: visit.field("password") };
  const chosen = await choosePassword(developers.accounts, given, visit.visitor);
  if (!isRejection(chosen)) {
    return continueSignIn(
      developers,
      visit,
      chosen,
      `/developers?done=${chosen.isNew ? "welcome" : "password"}`,
    );
  }
  const { rejected, message } = chosen;
  if (rejected === "bad_link") return refusalReply(chosen, badLinkPage());
  if (rejected === "suspended")
    return refusalReply(chosen, passwordPage("", "", true, { message }));
  const state = rejected === "bad_password" ? { badPassword: message } : { message };
  return refusalReply(chosen, (await reply(developers, link, state)).page);
};

type ConfirmState = { readonly badPassword?: string; readonly message?: string };

async function reply(
  { accounts: { db, clock } }: Developers,
  link: string,
  state: ConfirmState,
): Promise<Extract<Reply, { page: Html }>> {
  const known = await readLink(db, link, clock);
  if (known === null) return { page: badLinkPage(), status: 410 };
  return { page: passwordPage(link, known.email, known.isKnown, state) };
}

function passwordPage(link: string, email: string, isKnown: boolean, state: ConfirmState): Html {
  const title = isKnown ? "Choose a new password" : "Choose a password";
  const { badPassword, message } = state;
  const body = html`<h1>${title}</h1>
${alert(message)}
${
  link !== "" &&
  html`<form class="card stack" method="post" action="/developers/confirm" novalidate>
<input type="hidden" name="link" value="${link}">
<div class="field"><label for="email">Account</label><input id="email" type="email" value="${email}" autocomplete="username" readonly></div>
${field({ name: "password", label: isKnown ? "New password" : "Password", type: "password", autocomplete: "new-password", hint: passwordHint, error: badPassword, hasFocus: true })}
<button class="primary">${isKnown ? "Set password and sign in" : "Create account"}</button>
</form>`
}`;
  return developerLayout({ title, body });
}

function badLinkPage(): Html {
  const body = html`<h1>This link does not work</h1>
<p class="alert" role="alert">${badLink.message}</p>
<p class="below"><a href="/developers/sign-up">Create an account</a><a href="/developers/forgot">Forgotten password</a></p>`;
  return developerLayout({ title: "This link does not work", body });
}

export const passwordHint = `${minPasswordLength} characters or more; a few words are fine.`;
