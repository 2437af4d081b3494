import { type Html, html } from "../html/html.ts";
import { buttonForm, field } from "./form.ts";
import type { SignedIn } from "./page-handler.ts";

/** Forms for what is held of an account. */
export const ownDataSection = ({ formToken }: SignedIn, badEmail: string | undefined): Html =>
  html`<section aria-labelledby="data">
<h2 id="data">Your data</h2>
<p>A JSON file with everything that is stored of this account, except secrets.</p>
${buttonForm("/developers/account/export", formToken, "Download", { about: "your data", downloads: true })}
<h3>Delete the account</h3>
<form class="card stack" method="post" action="/developers/account/delete" novalidate>
<input type="hidden" name="form" value="${formToken}">
${field({ name: "email", label: "E-mail address of this account", type: "email", autocomplete: "off", error: badEmail, hint: "Keys, tokens and sessions end at once. Nothing can be restored." })}
<button class="danger">Delete the account</button>
</form>
</section>`;
