import type { StoredToken } from "#api/accounts/bearer-tokens.ts";
import type { ClientKey } from "#api/accounts/account-keys.ts";
import { type Html, html } from "#api/serve/html/html.ts";
import { buttonForm, confirmForm, time } from "../form.ts";
import { copied, secretPanel } from "./secret-panel.ts";

type Section = {
  readonly clientKey: ClientKey | null;
  /** The newest valid tokens, and the total number. */
  readonly tokens: readonly StoredToken[];
  readonly total: number;
  /** A new secret, shown only once. */
  readonly made: string | undefined;
  readonly email: string;
  readonly accountApiUrl: string;
  readonly formToken: string;
};

/** The client key, how to exchange it for tokens, and the tokens. */
export function clientKeySection(section: Section): Html {
  const { clientKey, made, email, accountApiUrl, formToken } = section;
  return html`<section aria-labelledby="client-key">
<h2 id="client-key">Client key</h2>
<p>The account API at <code>${accountApiUrl}</code> needs a bearer token. A program gets one with your e-mail address and this key; a token is valid for 30 days.</p>
${
  made !== undefined &&
  secretPanel({
    id: "new-client-key",
    title: "The client key",
    secret: made,
    about: "The previous client key no longer works; its tokens stay valid.",
    example: loginExample(accountApiUrl, email, made),
  })
}
${clientKey === null ? noKey(formToken) : kept(clientKey, section)}
${tokenList(section)}
</section>`;
}

/** Quoted for a shell: an e-mail address may contain a quote. */
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
<td data-label="Created">${time(createdAt)}</td>
<td data-label="Last used">${time(lastUsedAt)}</td>
<td class="actions">${confirmForm("/developers/client-key", formToken, { label: "Rotate", about: "client key", kind: "primary", warning: "A new key replaces it at once. Issued tokens stay valid." })}${confirmForm("/developers/client-key/revoke", formToken, { label: "Revoke", about: "client key", warning: "The key and all its tokens stop working at once." })}</td>
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
<thead><tr><th scope="col">Ends in</th><th scope="col">Issued</th><th scope="col">To address</th><th scope="col">Last used</th><th scope="col">Valid until</th><th scope="col"><span class="unseen">Actions</span></th></tr></thead>
<tbody>
${tokens.map((token) => tokenRow(token, formToken))}
</tbody>
</table>
${more > 0 && html`<p class="hint">And ${more} older ${more === 1 ? "one" : "ones"}.</p>`}`;
}

function tokenRow(token: StoredToken, formToken: string): Html {
  const { id, ending, createdAt, createdFrom, expiresAt, lastUsedAt } = token;
  return html`<tr>
<th scope="row"><code>…${ending}</code></th>
<td data-label="Issued">${time(createdAt)}</td>
<td data-label="To address">${createdFrom}</td>
<td data-label="Last used">${time(lastUsedAt)}</td>
<td data-label="Valid until">${time(expiresAt)}</td>
<td class="actions">${buttonForm(`/developers/tokens/${id}/revoke`, formToken, "Revoke", { about: `token ${ending}` })}</td>
</tr>`;
}
