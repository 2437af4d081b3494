import {
  type AccountKey,
  type ClientKey,
  createAccountKey,
  createClientKey,
  maxKeys,
  overlapHours,
  readAccountKeys,
  readAccountUsage,
  readClientKey,
  revokeAccountKey,
  revokeClientKey,
  rotateAccountKey,
} from "#api/accounts/account-keys.ts";
import { readBearerTokens, revokeToken, type StoredToken } from "#api/accounts/bearer-tokens.ts";
import { isRejection } from "#projections/domain/rejection.ts";
import { type Html, html } from "../kit/html.ts";
import {
  alert,
  buttonForm,
  confirmForm,
  copied,
  field,
  notice,
  secretPanel,
  timeTag,
} from "./form.ts";
import {
  emptyTerms,
  parseTerms,
  rowIdOf,
  type TermsState,
  termsFields,
  termsMarks,
} from "./key.ts";
import {
  type Developers,
  developerLayout,
  isAnswer,
  refusalReply,
  type SignedIn,
  type SignedInHandler,
} from "./layout.ts";

/** Messages shown after a form redirects back to the keys page. */
const done: ReadonlyMap<string, string> = new Map([
  ["welcome", "Your account is ready."],
  ["password", "Your new password is set. Other sessions were ended."],
  ["key-revoked", "The key is revoked. Requests with it fail from now on."],
  ["client-key-revoked", "The client key and all its tokens are revoked."],
  ["token-revoked", "The token is revoked."],
]);

export const showKeys: SignedInHandler = async (developers, visit, signedIn) => ({
  page: await keysPage(developers, signedIn, { done: done.get(visit.parameter("done")) }),
});

export const submitKey: SignedInHandler = async (developers, visit, signedIn) => {
  const { accounts } = developers;
  const name = visit.field("name");
  const page = (state: KeysState) => keysPage(developers, signedIn, state);
  const parsed = parseTerms(visit, accounts.clock);
  if ("wrong" in parsed) return { page: await page({ name, terms: parsed.wrong }), status: 422 };
  const made = await createAccountKey(accounts, signedIn.session, name, parsed.terms);
  if (!isRejection(made)) return { page: await page({ madeKey: { ...made, isRotated: false } }) };
  const { rejected, message } = made;
  const isBadName = rejected === "bad_name";
  return refusalReply(made, await page(isBadName ? { name, badName: message } : { name, message }));
};

export const submitRotation: SignedInHandler = async (developers, visit, signedIn) => {
  const { accounts } = developers;
  const made = await rotateAccountKey(accounts, signedIn.session, rowIdOf(visit));
  const page = (state: KeysState) => keysPage(developers, signedIn, state);
  if (isRejection(made)) return refusalReply(made, await page({ message: made.message }));
  return { page: await page({ madeKey: { ...made, isRotated: true } }) };
};

export const submitRevocation: SignedInHandler = async (developers, visit, signedIn) => {
  const { accountId } = signedIn.session;
  const refused = await revokeAccountKey(developers.accounts, accountId, rowIdOf(visit));
  if (refused === null) return { to: "/developers?done=key-revoked" };
  const { message } = refused;
  return refusalReply(refused, await keysPage(developers, signedIn, { message }));
};

export const submitClientKey: SignedInHandler = async (developers, _visit, signedIn) => {
  const made = await createClientKey(developers.accounts, signedIn.session);
  const page = (state: KeysState) => keysPage(developers, signedIn, state);
  if (isRejection(made)) return refusalReply(made, await page({ message: made.message }));
  return { page: await page({ madeClientKey: made.key }) };
};

export const submitClientKeyRevocation: SignedInHandler = async (
  { accounts },
  _visit,
  signedIn,
) => {
  await revokeClientKey(accounts, signedIn.session.accountId);
  return { to: "/developers?done=client-key-revoked" };
};

export const submitTokenRevocation: SignedInHandler = async ({ accounts }, visit, signedIn) => {
  await revokeToken(accounts.db, signedIn.session.accountId, rowIdOf(visit));
  return { to: "/developers?done=token-revoked" };
};

type KeysState = {
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
async function keysPage(
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
    readBearerTokens(db, accountId, clock),
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
${email !== null && clientKeySection({ clientKey, tokens, total, made: madeClientKey, email, accountApiUrl, formToken })}`;
  return developerLayout({
    title: "Keys",
    body,
    signedIn,
    current: "keys",
    isFormResult: isAnswer(state),
  });
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
<th scope="row"><a href="/developers/keys/${id}">${name}</a>${expiresAt && html`<span class="mark">ends ${timeTag(expiresAt)}</span>`}${termsMarks(key)}${perMinute !== null && perMinute !== keyLimit && html`<span class="mark">${formatRequests(perMinute)} per minute</span>`}</th>
<td data-label="Ends in"><code>…${ending}</code></td>
<td data-label="Created">${timeTag(createdAt)}</td>
<td data-label="Last used">${timeTag(lastUsedAt)}</td>
<td data-label="30 days" class="number">${formatRequests(requests)}</td>
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
function clientKeySection(section: Section): Html {
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
<td data-label="Created">${timeTag(createdAt)}</td>
<td data-label="Last used">${timeTag(lastUsedAt)}</td>
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
<td data-label="Issued">${timeTag(createdAt)}</td>
<td data-label="To address">${createdFrom}</td>
<td data-label="Last used">${timeTag(lastUsedAt)}</td>
<td data-label="Valid until">${timeTag(expiresAt)}</td>
<td class="actions">${buttonForm(`/developers/tokens/${id}/revoke`, formToken, "Revoke", { about: `token ${ending}` })}</td>
</tr>`;
}

type Day = { readonly day: string; readonly requests: number };

const barWidth = 20;
const height = 100;

const formatRequests = (requests: number): string => requests.toLocaleString("en-US");

/** Requests per day, as bars and as a table. */
function usageChart(days: readonly Day[]): Html {
  const most = Math.max(...days.map(({ requests }) => requests), 0);
  const total = days.reduce((sum, { requests }) => sum + requests, 0);
  const first = days[0]?.day ?? "";
  const last = days.at(-1)?.day ?? "";
  if (total === 0) return html`<p class="empty">No requests in the last ${days.length} days.</p>`;
  const about = `Requests per day from ${first} to ${last}: ${formatRequests(total)} in total, ${formatRequests(most)} on the busiest day`;
  return html`<figure class="chart">
<div class="most" aria-hidden="true">${formatRequests(most)}</div>
<svg viewBox="0 0 ${days.length * barWidth} ${height}" preserveAspectRatio="none" role="img" aria-label="${about}">${days.map((day, index) => bar(day, index, most))}</svg>
<figcaption><span>${first}</span><span>${last}</span></figcaption>
</figure>
<p class="hint">Total of ${days.length} days: ${formatRequests(total)}</p>
${figures(days)}`;
}

/** A bar has a minimum height, so that a day with a single request is visible. */
function bar({ day, requests }: Day, index: number, most: number): Html {
  const size = requests === 0 ? 1 : Math.max(3, Math.round((requests / most) * height));
  return html`<rect class="${requests === 0 ? "none" : "some"}" x="${index * barWidth + 2}" y="${height - size}" width="${barWidth - 4}" height="${size}"><title>${day}: ${formatRequests(requests)}</title></rect>`;
}

function figures(days: readonly Day[]): Html {
  const used = days.filter(({ requests }) => requests > 0).toReversed();
  return html`<details><summary>As a table</summary>
<table class="figures"><thead><tr><th scope="col">Day (UTC)</th><th scope="col">Requests</th></tr></thead>
<tbody>${used.map(({ day, requests }) => html`<tr><td>${day}</td><td>${formatRequests(requests)}</td></tr>`)}</tbody></table></details>`;
}
