import type { KeptToken } from "../accounts/bearer-tokens.ts";
import type { ClientKey } from "../accounts/client-keys.ts";
import { buttonForm, moment, sureForm } from "./form.ts";
import { type Html, html } from "./html.ts";
import { copied, secretPanel } from "./secret-panel.ts";

type Section = {
  readonly clientKey: ClientKey | null;
  /** The newest of the tokens that work, and how many there are. */
  readonly tokens: readonly KeptToken[];
  readonly total: number;
  /** What is shown this once. */
  readonly made: string | undefined;
  readonly email: string;
  readonly accountApiUrl: string;
  readonly formToken: string;
};

/** The client key, how it is exchanged for tokens, and the tokens. */
export function clientKeySection(section: Section): Html {
  const { clientKey, made, email, accountApiUrl, formToken } = section;
  return html`<section aria-labelledby="client-key">
<h2 id="client-key">Client key</h2>
<p>The account API at <code>${accountApiUrl}</code> takes bearer tokens. A program gets one for your e-mail address and this key; it is valid for 30 days.</p>
${
  made !== undefined &&
  secretPanel({
    id: "new-client-key",
    title: "The client key",
    secret: made,
    about: "One before it is of no use any more; tokens go on.",
    example: loginExample(accountApiUrl, email, made),
  })
}
${clientKey === null ? noKey(formToken) : kept(clientKey, section)}
${tokenList(section)}
</section>`;
}

/** Quoted for a shell: an e-mail address may hold a quote. */
function loginExample(accountApiUrl: string, email: string, key: string): string {
  const body = JSON.stringify({ email, client_key: key }).replaceAll("'", "'\\''");
  return `curl '${accountApiUrl}/api/auth/login' \\\n  -H 'Content-Type: application/json' \\\n  -d '${body}'`;
}

const noKey = (formToken: string): Html =>
  html`<p class="empty">There is no client key yet.</p>
${buttonForm("/developers/client-key", formToken, "Create client key", { kind: "primary" })}`;

function kept(clientKey: ClientKey, { made, email, accountApiUrl, formToken }: Section): Html {
  const { ending, createdAt, lastUsedAt } = clientKey;
  const example = loginExample(accountApiUrl, email, "<your client key>");
  return html`<table class="list">
<thead><tr><th scope="col">Key</th><th scope="col">Created</th><th scope="col">Last used</th><th scope="col"><span class="unseen">Actions</span></th></tr></thead>
<tbody><tr>
<th scope="row"><code>…${ending}</code></th>
<td data-label="Created">${moment(createdAt)}</td>
<td data-label="Last used">${moment(lastUsedAt)}</td>
<td class="actions">${sureForm("/developers/client-key", formToken, { label: "Rotate", about: "client key", kind: "primary", warning: "A new key takes its place at once. Tokens that were given out go on." })}${sureForm("/developers/client-key/revoke", formToken, { label: "Revoke", about: "client key", warning: "The key and every token that it was exchanged for fail at once." })}</td>
</tr></tbody>
</table>
${
  made === undefined &&
  html`<details><summary>How to get a token</summary>
${copied("login-example", html`<pre tabindex="0"><code id="login-example">${example}</code></pre>`)}
<p>Send it with every request: <code>Authorization: Bearer &lt;token&gt;</code>.</p></details>`
}`;
}

function tokenList({ tokens, total, formToken }: Section): Html | false {
  if (tokens.length === 0) return false;
  const more = total - tokens.length;
  return html`<h3>Tokens</h3>
<table class="list">
<thead><tr><th scope="col">Ends in</th><th scope="col">Given out</th><th scope="col">To</th><th scope="col">Last used</th><th scope="col">Valid until</th><th scope="col"><span class="unseen">Actions</span></th></tr></thead>
<tbody>
${tokens.map((token) => tokenRow(token, formToken))}
</tbody>
</table>
${more > 0 && html`<p class="hint">And ${more} older ${more === 1 ? "one" : "ones"}.</p>`}`;
}

function tokenRow(token: KeptToken, formToken: string): Html {
  const { id, ending, createdAt, createdFrom, expiresAt, lastUsedAt } = token;
  return html`<tr>
<th scope="row"><code>…${ending}</code></th>
<td data-label="Given out">${moment(createdAt)}</td>
<td data-label="To">${createdFrom}</td>
<td data-label="Last used">${moment(lastUsedAt)}</td>
<td data-label="Valid until">${moment(expiresAt)}</td>
<td class="actions">${buttonForm(`/developers/tokens/${id}/revoke`, formToken, "Revoke", { about: `token ${ending}` })}</td>
</tr>`;
}
