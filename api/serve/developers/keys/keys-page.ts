import { maxKeys, overlapHours, readClientKey, type AccountKey, readAccountKeys, readAccountUsage } from "#api/accounts/account-keys.ts";
import { readTokens } from "#api/accounts/bearer-tokens.ts";
import { type Html, html } from "#api/serve/html/html.ts";
import { alert, confirmForm, field, notice, time } from "../form.ts";
import { layout } from "../layout.ts";
import type { Developers, SignedIn } from "../page-handler.ts";
import { clientKeySection } from "./client-key-section.ts";
import { emptyTerms, type TermsState, termsFields, termsMarks } from "./key-terms-form.ts";
import { secretPanel } from "./secret-panel.ts";
import { countOf, usageChart } from "./usage-chart.ts";

export type KeysState = {
  readonly done?: string | undefined;
  readonly message?: string;
  /** The rejected name, and why. */
  readonly name?: string;
  readonly badName?: string;
  /** Rejected terms. */
  readonly terms?: TermsState;
  /** New secrets, shown only once. */
  readonly madeKey?: { readonly key: string; readonly name: string; readonly isRotated: boolean };
  readonly madeClientKey?: string;
};

/** The page with an account's API keys, usage, client key and tokens. */
export async function keysPage(
  developers: Developers,
  signedIn: SignedIn,
  state: KeysState,
): Promise<Html> {
  const { accounts, keyLimit, accountApiUrl } = developers;
  const { db, clock, baseUrl } = accounts;
  const { accountId, email } = signedIn.session;
  const [keys, usage, clientKey, { tokens, total }] = await Promise.all([
    readAccountKeys(db, accountId, clock),
    readAccountUsage(db, accountId, clock),
    readClientKey(db, accountId),
    readTokens(db, accountId, clock),
  ]);
  const { formToken } = signedIn;
  const { done, message, madeKey, madeClientKey } = state;
  const body = html`<h1>Keys</h1>
${notice(done)}${alert(message)}
<section aria-labelledby="keys">
<h2 id="keys">API keys</h2>
<p>${aboutLimit(keyLimit)}</p>
${madeKey && madeKeyPanel(madeKey, baseUrl)}
${keys.length === 0 ? html`<p class="empty">There are no keys yet.</p>` : keyTable(keys, keyLimit, formToken)}
${createForm(formToken, keys, state)}
</section>
<section aria-labelledby="use">
<h2 id="use">Usage</h2>
<p>Requests of all your keys per day (UTC), updated every few seconds.</p>
${usageChart(usage)}
</section>
${clientKeySection({ clientKey, tokens, total, made: madeClientKey, email, accountApiUrl, formToken })}`;
  const isAnswer = Object.keys(state).some((name) => name !== "done");
  return layout({ title: "Keys", body, signedIn, current: "keys", isFormResult: isAnswer });
}

const aboutLimit = (keyLimit: number): Html =>
  html`Programs send their key in the header <code>X-API-Key</code>. ${keyLimit === 0 ? "Keys have no limit." : `Together they may make ${keyLimit} requests per minute.`} Times are UTC.`;

function madeKeyPanel(made: NonNullable<KeysState["madeKey"]>, baseUrl: string): Html {
  const { key, name, isRotated } = made;
  return secretPanel({
    id: "new-key",
    title: `The key “${name}”`,
    secret: key,
    about: isRotated && `The previous key stays valid for ${overlapHours} hours.`,
    example: `curl '${baseUrl}/v1/collections?per_page=1' \\\n  -H 'X-API-Key: ${key}'`,
  });
}

function keyTable(keys: readonly AccountKey[], keyLimit: number, formToken: string): Html {
  return html`<table class="list">
<thead><tr><th scope="col">Name</th><th scope="col">Ends in</th><th scope="col">Created</th><th scope="col">Last used</th><th scope="col" class="number">30 days</th><th scope="col"><span class="unseen">Actions</span></th></tr></thead>
<tbody>
${keys.map((key) => keyRow(key, keyLimit, formToken))}
</tbody>
</table>`;
}

function keyRow(key: AccountKey, keyLimit: number, formToken: string): Html {
  const { id, name, ending, perMinute, createdAt, expiresAt, lastUsedAt, requests } = key;
  const { isReplaced } = key;
  const about = `${name} (${ending})`;
  return html`<tr>
<th scope="row"><a href="/developers/keys/${id}">${name}</a>${expiresAt && html`<span class="mark">ends ${time(expiresAt)}</span>`}${termsMarks(key)}${perMinute !== null && perMinute !== keyLimit && html`<span class="mark">${countOf(perMinute)} per minute</span>`}</th>
<td data-label="Ends in"><code>…${ending}</code></td>
<td data-label="Created">${time(createdAt)}</td>
<td data-label="Last used">${time(lastUsedAt)}</td>
<td data-label="30 days" class="number">${countOf(requests)}</td>
<td class="actions">${
    !isReplaced &&
    confirmForm(`/developers/keys/${id}/rotate`, formToken, {
      label: "Rotate",
      about,
      kind: "primary",
      warning: `A new key replaces it. This one stays valid for ${overlapHours} hours, so that programs can switch.`,
    })
  }${confirmForm(`/developers/keys/${id}/revoke`, formToken, { label: "Revoke", about, warning: "Requests with this key fail immediately." })}</td>
</tr>`;
}

function createForm(formToken: string, keys: readonly AccountKey[], state: KeysState): Html {
  const lasting = keys.filter(({ isReplaced }) => !isReplaced).length;
  if (lasting >= maxKeys)
    return html`<p class="empty">An account can have ${maxKeys} keys. Revoke one to create another.</p>`;
  const { name = "", badName, terms = emptyTerms } = state;
  return html`<form class="inline" method="post" action="/developers/keys" novalidate>
<input type="hidden" name="form" value="${formToken}">
${field({ name: "name", label: "Name of a new key", value: name, autocomplete: "off", error: badName, hint: "For example the program that uses it: “price bot”." })}
<button class="primary">Create key</button>
${termsFields(terms)}
</form>`;
}
