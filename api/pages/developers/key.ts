import { type AccountKey, readAccountKey } from "#api/accounts/account-keys.ts";
import { type Scope, scopes } from "#api/http/limit.ts";
import { cutNumbered } from "#api/http/page.ts";
import type { Clock } from "#api/keys/clock.ts";
import { type KeyTerms, parseExpiry, parseNetworks, parseScopes } from "#api/keys/key-terms.ts";
import {
  type KeyRequest,
  maxRequests,
  type RequestFilter,
  readKeyRequests,
  requestDays,
} from "#api/keys/request-log.ts";
import { isRejection } from "#projections/domain/rejection.ts";
import { type Html, html } from "../kit/html.ts";
import { pageLink } from "../kit/links.ts";
import { field, secondTag, timeTag } from "./form.ts";
import {
  type DeveloperVisit,
  developerLayout,
  refusalPage,
  type SignedIn,
  type SignedInHandler,
} from "./layout.ts";

const pageSize = 50;

/** A key of the account: its terms, and its newest requests. */
export const showKey: SignedInHandler = async ({ accounts: { db, clock } }, visit, signedIn) => {
  const { accountId } = signedIn.session;
  const key = await readAccountKey(db, accountId, rowIdOf(visit), clock);
  if (key === null) {
    const page = refusalPage("No such key", "It does not exist, or it was revoked.");
    return { page, status: 404 };
  }
  const slice = { before: beforeOf(visit), limit: pageSize + 1 };
  const filter = filterOf(visit);
  const requests = await readKeyRequests(db, key.id, slice, filter);
  return { page: keyPage({ key, requests, filter, signedIn }) };
};

const mostFilterLength = 200;

const filterOf = (visit: DeveloperVisit): RequestFilter => ({
  isRefused: visit.parameter("refused") === "yes",
  text: visit.parameter("text").trim().slice(0, mostFilterLength),
});

type KeyPage = {
  readonly key: AccountKey;
  readonly requests: readonly KeyRequest[];
  readonly filter: RequestFilter;
  readonly signedIn: SignedIn;
};

function keyPage({ key, requests, filter, signedIn }: KeyPage): Html {
  const { id, name, ending, createdAt, lastUsedAt } = key;
  const { shown, next } = cutNumbered(requests, pageSize);
  const title = `Key “${name}”`;
  const body = html`<h1>${title}</h1>
<p>Ends in <code>…${ending}</code>, created ${timeTag(createdAt)}, last used ${timeTag(lastUsedAt)}. Times are UTC.</p>
<section aria-labelledby="terms">
<h2 id="terms">Terms</h2>
${termsList(key)}
</section>
<section aria-labelledby="requests">
<h2 id="requests">Requests</h2>
<p>The newest ${maxRequests} of the last ${requestDays} days, a few seconds late.</p>
${filterForm(id, filter)}
${shown.length === 0 ? html`<p class="empty">There are no such requests.</p>` : requestTable(shown)}
${next !== null && html`<p class="below"><a href="${pageLink(`/developers/keys/${id}`, { before: next, refused: filter.isRefused ? "yes" : undefined, text: filter.text })}">Older ones</a></p>`}
</section>
<p class="below"><a href="/developers">Back to the keys</a></p>`;
  return developerLayout({ title, body, signedIn, current: "keys" });
}

const filterForm = (id: number, { isRefused, text }: RequestFilter): Html =>
  html`<form method="get" action="/developers/keys/${id}" class="inline" role="search">
<label>Path, query, code or request id <input type="search" name="text" value="${text}" maxlength="${mostFilterLength}" autocomplete="off"></label>
<label class="check"><input type="checkbox" name="refused" value="yes"${isRefused && html` checked`}> Refused or failed only</label>
<button class="quiet">Show</button>
</form>`;

const requestTable = (requests: readonly KeyRequest[]): Html =>
  html`<table class="list">
<thead><tr><th scope="col">Time</th><th scope="col">Request</th><th scope="col">Status</th><th scope="col">Request id</th><th scope="col" class="number">Took</th></tr></thead>
<tbody>
${requests.map(requestRow)}
</tbody>
</table>`;

const requestRow = (request: KeyRequest): Html => {
  const { at, method, path, query, status, code, requestId, durationMs } = request;
  return html`<tr>
<th scope="row">${secondTag(at)}</th>
<td data-label="Request"><code>${method} ${path}${query !== null && `?${query}`}</code></td>
<td data-label="Status">${status}${code !== null && html` <a href="/docs/errors#${code}">${code}</a>`}</td>
<td data-label="Request id"><code>${requestId ?? ""}</code></td>
<td data-label="Took" class="number">${durationMs} ms</td>
</tr>`;
};

/** The terms of a new key as they were typed, and what is wrong with them. */
export type TermsState = {
  readonly scopes: readonly Scope[];
  readonly expires: string;
  readonly networks: string;
  readonly badScopes?: string;
  readonly badExpiry?: string;
  readonly badNetworks?: string;
};

export const emptyTerms: TermsState = { scopes, expires: "", networks: "" };

const scopeField = (scope: Scope) => `scope-${scope}`;

/** Terms of a form; those of a form without these fields are unlimited. */
export function parseTerms(
  visit: DeveloperVisit,
  clock: Clock,
): { readonly terms: KeyTerms } | { readonly wrong: TermsState } {
  const isChosen = (scope: Scope) =>
    !visit.fields.has("terms") || visit.fields.has(scopeField(scope));
  const typed = {
    scopes: scopes.filter(isChosen),
    expires: visit.field("expires"),
    networks: visit.field("networks"),
  };
  const chosen = parseScopes(isChosen);
  const expiresAt = parseExpiry(typed.expires, clock() ?? new Date());
  const networks = parseNetworks(typed.networks);
  if (isRejection(chosen)) return { wrong: { ...typed, badScopes: chosen.message } };
  if (expiresAt !== null && isRejection(expiresAt))
    return { wrong: { ...typed, badExpiry: expiresAt.message } };
  if (networks !== null && isRejection(networks))
    return { wrong: { ...typed, badNetworks: networks.message } };
  return {
    terms: { scopes: chosen.length === scopes.length ? null : chosen, expiresAt, networks },
  };
}

const meanings: Record<Scope, string> = {
  read: "read market data",
  orders: "submit, buy, accept and cancel orders",
  stream: "read events as they happen",
  webhooks: "manage the account’s webhooks",
};

/** Fields for the terms of a new key. */
export function termsFields(state: TermsState): Html {
  const { badScopes, expires, badExpiry, networks, badNetworks } = state;
  const isOpen = badScopes ?? badExpiry ?? badNetworks;
  return html`<input type="hidden" name="terms" value="yes">
<details${isOpen !== undefined && html` open`}><summary>Scopes, expiry, networks</summary>
<fieldset${badScopes !== undefined && html` aria-describedby="scopes-error"`}>
<legend>What it may be used for</legend>
${scopes.map((scope) => scopeBox(scope, state.scopes.includes(scope)))}
${badScopes && html`<p class="error" id="scopes-error" role="alert">${badScopes}</p>`}
</fieldset>
${field({ name: "expires", label: "Expires at the start of (UTC)", type: "date", value: expires, autocomplete: "off", error: badExpiry, isOptional: true, hint: "Empty: never." })}
${field({ name: "networks", label: "Networks that may use it", value: networks, autocomplete: "off", error: badNetworks, isOptional: true, hint: "For example 203.0.113.0/24, 2001:db8::/32. Empty: all." })}
</details>`;
}

const scopeBox = (scope: Scope, isChosen: boolean): Html =>
  html`<label class="check"><input type="checkbox" name="${scopeField(scope)}" value="yes"${isChosen && html` checked`}> ${scope}: ${meanings[scope]}</label>`;

/** The terms of a key, in words. */
function termsList({ scopes: held, expiresAt, networks }: KeyTerms): Html {
  const ofScope = (scope: Scope) => html`<li>${scope}: ${meanings[scope]}</li>`;
  return html`<dl class="terms">
<dt>May be used for</dt><dd><ul>${(held ?? scopes).map(ofScope)}</ul></dd>
<dt>Expires</dt><dd>${timeTag(expiresAt)}</dd>
<dt>Networks</dt><dd>${networks === null ? "all" : networks.join(", ")}</dd>
</dl>`;
}

/** Marks beside a key's name, where its terms are limited. */
export const termsMarks = ({ scopes: held, networks }: Omit<KeyTerms, "expiresAt">): Html =>
  html`${held && html`<span class="mark">${held.join(", ")}</span>`}${networks && html`<span class="mark">${networks.length} ${networks.length === 1 ? "network" : "networks"}</span>`}`;

/** The row id in the path; 0, which no row has, if it is not a number. */
export function rowIdOf(visit: DeveloperVisit): number {
  const id = visit.key("id");
  return /^\d{1,9}$/.test(id) ? Number(id) : 0;
}

/** The row before which a page of a list begins; null: at its start, or it is no number. */
export function beforeOf(visit: DeveloperVisit): bigint | null {
  const before = visit.parameter("before");
  return /^\d{1,18}$/.test(before) ? BigInt(before) : null;
}
