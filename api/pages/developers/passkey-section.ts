import {
  askPasskey,
  type Passkey,
  type PasskeySubject,
  passkeyDomain,
  readPasskeys,
} from "#api/accounts/passkeys.ts";
import { readSecondFactor } from "#api/accounts/second-factor.ts";
import { isRejection, type Rejection } from "#projections/domain/rejection.ts";
import { type Html, html } from "../kit/html.ts";
import { alert, codeField, confirmForm, field, timeTag } from "./form.ts";
import type { Developers, DeveloperVisit, SignedIn } from "./layout.ts";

type PasskeyButton = {
  /** Of the hidden field that the script fills in. */
  readonly name: string;
  readonly label: string;
  readonly kind: "create" | "get";
  /** What the browser is asked. */
  readonly options: object;
};

/** A button that has a passkey answer, and sends the form that it is in. It appears when scripts are enabled. */
export const passkeyButton = ({ name, label, kind, options }: PasskeyButton): Html =>
  html`<div data-passkey="${kind}" data-options="${JSON.stringify(options)}" hidden>
<input type="hidden" name="${name}" data-answer>
<div class="stack"><button type="button" class="primary">${label}</button></div>
<p class="hint" role="status"></p>
</div>
<noscript><p class="hint">A passkey answers by a script, which this browser does not run.</p></noscript>`;

/** Names of the fields, which the script and the owner fill in. */
export type FactorNames = { readonly code: string; readonly passkey: string };

type FactorForm = {
  readonly names: FactorNames;
  readonly refused: Rejection | undefined;
  /** Of the code. */
  readonly button: string;
};

/** Fields of a form that asks for the second factor: a passkey, a code, or a recovery code. */
export async function factorFields(
  developers: Developers,
  asked: PasskeySubject,
  visit: DeveloperVisit,
  { names, refused, button }: FactorForm,
): Promise<Html> {
  const { accounts } = developers;
  const { hasProgram } = await readSecondFactor(accounts.db, asked.accountId);
  const options = await askPasskey(accounts, asked, visit.visitor.address);
  const isWrongCode = refused?.rejected === "wrong_code";
  const isPasskey = options !== null && !isRejection(options);
  const message = isWrongCode ? undefined : refused?.message;
  return html`${alert(message ?? (isRejection(options) ? options.message : undefined))}
${isPasskey && passkeyButton({ name: names.passkey, label: "Use a passkey", kind: "get", options })}
${codeField(names.code, isWrongCode ? refused.message : undefined, hasProgram)}
<button class="${isPasskey ? "plain" : "primary"}">${button}${isPasskey && " by code"}</button>`;
}

export const passkeysPath = "/developers/account/passkeys";

/** The passkeys of an account, and a form for another one. */
export async function passkeyList(
  { accounts }: Developers,
  { session, formToken }: SignedIn,
): Promise<Html> {
  const passkeys = await readPasskeys(accounts.db, session.accountId);
  return html`<h3>Passkeys</h3>
${
  passkeys.length > 0 &&
  html`<table class="list">
<thead><tr><th scope="col">Name</th><th scope="col">Added</th><th scope="col">Last used</th><th scope="col"><span class="unseen">Actions</span></th></tr></thead>
<tbody>
${passkeys.map((one) => passkeyRow(one, formToken))}
</tbody>
</table>`
}
${
  passkeyDomain(accounts.baseUrl) === null
    ? html`<p class="hint">There can be none at this address: they need https and a domain name, or localhost.</p>`
    : html`<form class="card stack" method="post" action="${passkeysPath}" novalidate>
<input type="hidden" name="form" value="${formToken}">
${field({ name: "passkey-name", label: "Name of a new passkey", autocomplete: "off", hint: "For example the device that has it." })}
<button>Add a passkey</button>
</form>`
}`;
}

const passkeyRow = ({ id, name, createdAt, lastUsedAt }: Passkey, formToken: string): Html =>
  html`<tr>
<th scope="row">${name}</th>
<td data-label="Added">${timeTag(createdAt)}</td>
<td data-label="Last used">${timeTag(lastUsedAt)}</td>
<td class="actions">${confirmForm(`${passkeysPath}/${id}/remove`, formToken, { label: "Remove", about: `the passkey ${name}`, warning: "It is asked for first, or another proof of the second factor." })}</td>
</tr>`;
