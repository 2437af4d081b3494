import { isRejection } from "#projections/domain/rejection.ts";
import { badLink, choosePassword } from "#api/accounts/choose-password.ts";
import { readLink } from "#api/accounts/links.ts";
import { type Html, html } from "../html/html.ts";
import { alert, field } from "./form.ts";
import { layout } from "./layout.ts";
import type { Developers, OpenHandler, Reply } from "./page-handler.ts";
import { passwordHint } from "./password-hint.ts";
import { refusalReply } from "./refusal.ts";
import { continueSignIn } from "./sign-in-code.ts";

/** A GET does not use up the link: mail programs open links to scan them. */
export const showConfirm: OpenHandler = async (developers, visit) =>
  await reply(developers, visit.parameter("link"), {});

export const submitConfirm: OpenHandler = async (developers, visit) => {
  const link = visit.field("link");
  const given = { link, password: visit.field("password") };
  const chosen = await choosePassword(developers.accounts, given, visit.visitor);
  if (!isRejection(chosen)) {
    return continueSignIn(chosen, `/developers?done=${chosen.isNew ? "welcome" : "password"}`);
  }
  const { rejected, message } = chosen;
  if (rejected === "bad_link") return refusalReply(chosen, badLinkPage());
  if (rejected === "suspended") return refusalReply(chosen, page("", "", true, { message }));
  const state = rejected === "bad_password" ? { badPassword: message } : { message };
  return refusalReply(chosen, (await reply(developers, link, state)).page);
};

type State = { readonly badPassword?: string; readonly message?: string };

async function reply(
  { accounts: { db, clock } }: Developers,
  link: string,
  state: State,
): Promise<Extract<Reply, { page: Html }>> {
  const known = await readLink(db, link, clock);
  if (known === null) return { page: badLinkPage(), status: 410 };
  return { page: page(link, known.email, known.isKnown, state) };
}

function page(link: string, email: string, isKnown: boolean, state: State): Html {
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
  return layout({ title, body });
}

function badLinkPage(): Html {
  const body = html`<h1>This link does not work</h1>
<p class="alert" role="alert">${badLink.message}</p>
<p class="below"><a href="/developers/sign-up">Create an account</a><a href="/developers/forgot">Forgotten password</a></p>`;
  return layout({ title: "This link does not work", body });
}
