import { type AccountKey, readAccountKey } from "#api/accounts/account-keys.ts";
import { type Html, html } from "#api/serve/html/html.ts";
import { type KeyRequest, maxRequests, readKeyRequests, requestDays } from "#api/keys/request-log.ts";
import { time } from "../form.ts";
import { layout, refusalPage } from "../layout.ts";
import type { SignedIn, SignedInHandler } from "../page-handler.ts";
import { rowIdOf } from "../row-id.ts";
import { termsList } from "./key-terms-form.ts";

const pageSize = 50;

/** A key of the account: its terms, and its newest requests. */
export const showKey: SignedInHandler = async ({ accounts: { db, clock } }, visit, signedIn) => {
  const { accountId } = signedIn.session;
  const key = await readAccountKey(db, accountId, rowIdOf(visit), clock);
  if (key === null) {
    const page = refusalPage("No such key", "It does not exist, or it was revoked.");
    return { page, status: 404 };
  }
  const before = visit.parameter("before");
  const requests = await readKeyRequests(db, key.id, {
    before: /^\d{1,18}$/.test(before) ? BigInt(before) : null,
    limit: pageSize + 1,
  });
  return { page: keyPage(key, requests, signedIn) };
};

function keyPage(key: AccountKey, requests: readonly KeyRequest[], signedIn: SignedIn): Html {
  const { id, name, ending, createdAt, lastUsedAt } = key;
  const shown = requests.slice(0, pageSize);
  const last = requests.length > pageSize ? shown.at(-1) : undefined;
  const title = `Key “${name}”`;
  const body = html`<h1>${title}</h1>
<p>Ends in <code>…${ending}</code>, created ${time(createdAt)}, last used ${time(lastUsedAt)}. Times are UTC.</p>
<section aria-labelledby="terms">
<h2 id="terms">Terms</h2>
${termsList(key)}
</section>
<section aria-labelledby="requests">
<h2 id="requests">Requests</h2>
<p>The newest ${maxRequests} of the last ${requestDays} days, a few seconds late.</p>
${shown.length === 0 ? html`<p class="empty">There are no requests.</p>` : requestTable(shown)}
${last !== undefined && html`<p class="below"><a href="/developers/keys/${id}?before=${String(last.id)}">Older ones</a></p>`}
</section>
<p class="below"><a href="/developers">Back to the keys</a></p>`;
  return layout({ title, body, signedIn, current: "keys" });
}

const requestTable = (requests: readonly KeyRequest[]): Html =>
  html`<table class="list">
<thead><tr><th scope="col">Time</th><th scope="col">Request</th><th scope="col" class="number">Status</th><th scope="col" class="number">Took</th></tr></thead>
<tbody>
${requests.map(requestRow)}
</tbody>
</table>`;

const requestRow = ({ at, method, path, status, durationMs }: KeyRequest): Html =>
  html`<tr>
<th scope="row"><time datetime="${at.toISOString()}">${at.toISOString().slice(0, 19).replace("T", " ")}</time></th>
<td data-label="Request"><code>${method} ${path}</code></td>
<td data-label="Status" class="number">${status}</td>
<td data-label="Took" class="number">${durationMs} ms</td>
</tr>`;
