import {
  type AccountKey,
  mostKeys,
  overlapHours,
  readAccountKeys,
  readAccountUsage,
} from "../accounts/account-keys.ts";
import { readTokens } from "../accounts/bearer-tokens.ts";
import { readClientKey } from "../accounts/client-keys.ts";
import { clientKeySection } from "./client-key-section.ts";
import { alert, field, moment, notice, sureForm } from "./form.ts";
import { type Html, html } from "./html.ts";
import { layout } from "./layout.ts";
import { secretPanel } from "./secret-panel.ts";
import { countOf, usageChart } from "./usage-chart.ts";
import type { Developers, SignedIn } from "./visit.ts";

export type KeysState = {
  readonly done?: string | undefined;
  readonly message?: string;
  /** A name that was not taken, and why. */
  readonly name?: string;
  readonly badName?: string;
  /** What is shown this once. */
  readonly madeKey?: { readonly key: string; readonly name: string; readonly isRotated: boolean };
  readonly madeClientKey?: string;
};

/** Everything an account holds to get in with. */
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
<h2 id="use">Use</h2>
<p>Requests of all your keys by day (UTC), some seconds late.</p>
${usageChart(usage)}
</section>
${clientKeySection({ clientKey, tokens, total, made: madeClientKey, email, accountApiUrl, formToken })}`;
  const isAnswer = Object.keys(state).some((name) => name !== "done");
  return layout({ title: "Keys", body, signedIn, place: "keys", isAnswer });
}

const aboutLimit = (keyLimit: number): Html =>
  html`A program sends its key in the header <code>X-API-Key</code>. ${keyLimit === 0 ? "A key has no limit." : `A key has ${keyLimit} requests a minute.`} Times are UTC.`;

function madeKeyPanel(made: NonNullable<KeysState["madeKey"]>, baseUrl: string): Html {
  const { key, name, isRotated } = made;
  return secretPanel({
    id: "new-key",
    title: `The key “${name}”`,
    secret: key,
    about: isRotated && `The one before it goes on for ${overlapHours} hours.`,
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
  const about = `${name} (${ending})`;
  return html`<tr>
<th scope="row">${name}${expiresAt && html`<span class="mark">ends ${moment(expiresAt)}</span>`}${perMinute !== null && perMinute !== keyLimit && html`<span class="mark">${countOf(perMinute)} a minute</span>`}</th>
<td data-label="Ends in"><code>…${ending}</code></td>
<td data-label="Created">${moment(createdAt)}</td>
<td data-label="Last used">${moment(lastUsedAt)}</td>
<td data-label="30 days" class="number">${countOf(requests)}</td>
<td class="actions">${
    expiresAt === null &&
    sureForm(`/developers/keys/${id}/rotate`, formToken, {
      label: "Rotate",
      about,
      kind: "primary",
      warning: `A new key takes its place. This one goes on for ${overlapHours} hours, so that programs can change over.`,
    })
  }${sureForm(`/developers/keys/${id}/revoke`, formToken, { label: "Revoke", about, warning: "Requests with this key fail at once." })}</td>
</tr>`;
}

function createForm(formToken: string, keys: readonly AccountKey[], state: KeysState): Html {
  const lasting = keys.filter(({ expiresAt }) => expiresAt === null).length;
  if (lasting >= mostKeys)
    return html`<p class="empty">These are all the keys an account can have: ${mostKeys}. Revoke one to create another.</p>`;
  const { name = "", badName } = state;
  return html`<form class="inline" method="post" action="/developers/keys" novalidate>
<input type="hidden" name="form" value="${formToken}">
${field({ name: "name", label: "Name of a new key", value: name, autocomplete: "off", error: badName, hint: "What uses it, such as “price bot”." })}
<button class="primary">Create key</button>
</form>`;
}
