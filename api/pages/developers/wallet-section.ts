import type { SignedSiwe } from "#api/accounts/siwe.ts";
import { type LinkedWallet, readWallets } from "#api/accounts/wallets.ts";
import { chainById } from "#chains/index.ts";
import { type Html, html } from "../kit/html.ts";
import { confirmForm, timeTag } from "./form.ts";
import type { Developers, DeveloperVisit, SignedIn } from "./layout.ts";

/** Fields that the script fills in once the wallet has signed. `proof`: for what a form needs besides what it does. */
const signedFields = {
  form: { message: "message", signature: "signature" },
  proof: { message: "proof-message", signature: "proof-signature" },
} as const;

type SignedFor = keyof typeof signedFields;

/** Forms send each line's end as CR LF; a message that a wallet signs has LF. */
export const signedOf = (visit: DeveloperVisit, signedFor: SignedFor = "form"): SignedSiwe => ({
  message: visit.field(signedFields[signedFor].message).replaceAll("\r\n", "\n"),
  signature: visit.field(signedFields[signedFor].signature),
});

export const proofNames: readonly string[] = Object.values(signedFields.proof);

/**
 * A button that has a wallet sign, and sends the form that it is in. It appears when scripts are enabled; `chains`: those
 * that a message may name.
 */
export const walletButton = (
  label: string,
  { accounts }: Developers,
  signedFor: SignedFor = "form",
): Html =>
  html`<div class="wallet" data-wallet="${accounts.chains.join(" ")}" hidden>
<input type="hidden" name="${signedFields[signedFor].message}" data-message><input type="hidden" name="${signedFields[signedFor].signature}" data-signature>
<div class="stack"><button type="button">${label}</button></div>
<p class="hint" role="status"></p>
</div>
<noscript><p class="hint">A wallet signs by a script, which this browser does not run.</p></noscript>`;

/** The wallets that sign in to an account, and a form for another one. */
export async function walletSection(
  developers: Developers,
  { session, formToken }: SignedIn,
): Promise<Html> {
  const { db } = developers.accounts;
  const wallets = await readWallets(db, session.accountId);
  return html`<section aria-labelledby="wallets">
<h2 id="wallets">Wallets</h2>
<p>Each of them signs in to this account (Sign in with Ethereum), on these pages and for programs.</p>
${
  wallets.length > 0 &&
  html`<table class="list">
<thead><tr><th scope="col">Address</th><th scope="col">Signs by</th><th scope="col">Linked</th><th scope="col"><span class="unseen">Actions</span></th></tr></thead>
<tbody>
${wallets.map((one) => walletRow(one, formToken))}
</tbody>
</table>`
}
<form class="card stack" method="post" action="/developers/account/wallets" novalidate>
<input type="hidden" name="form" value="${formToken}">
${walletButton("Link a wallet", developers)}
</form>
</section>`;
}

function walletRow({ id, address, chainId, createdAt }: LinkedWallet, formToken: string): Html {
  const signs = chainId === null ? "its key" : `its contract on ${chainById(chainId).name}`;
  return html`<tr>
<th scope="row"><code class="address">${address}</code></th>
<td data-label="Signs by">${signs}</td>
<td data-label="Linked">${timeTag(createdAt)}</td>
<td class="actions">${confirmForm(`/developers/account/wallets/${id}/unlink`, formToken, { label: "Unlink", about: `the wallet ${address}`, warning: "It no longer signs in to this account. Keys and sessions stay." })}</td>
</tr>`;
}
