import { isRejection } from "#projections/domain/rejection.ts";
import type { Clock } from "#api/keys/clock.ts";
import { type Html, html } from "#api/serve/html/html.ts";
import { type Scope, scopes } from "#api/http/limit.ts";
import { type KeyTerms, parseExpiry, parseNetworks, parseScopes } from "#api/keys/key-terms.ts";
import { field, time } from "../form.ts";
import type { Visit } from "../page-handler.ts";

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
  visit: Visit,
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
export function termsList({ scopes: held, expiresAt, networks }: KeyTerms): Html {
  const ofScope = (scope: Scope) => html`<li>${scope}: ${meanings[scope]}</li>`;
  return html`<dl class="terms">
<dt>May be used for</dt><dd><ul>${(held ?? scopes).map(ofScope)}</ul></dd>
<dt>Expires</dt><dd>${time(expiresAt)}</dd>
<dt>Networks</dt><dd>${networks === null ? "all" : networks.join(", ")}</dd>
</dl>`;
}

/** Marks beside a key's name, where its terms are limited. */
export const termsMarks = ({ scopes: held, networks }: Omit<KeyTerms, "expiresAt">): Html =>
  html`${held && html`<span class="mark">${held.join(", ")}</span>`}${networks && html`<span class="mark">${networks.length} ${networks.length === 1 ? "network" : "networks"}</span>`}`;
