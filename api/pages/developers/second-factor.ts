import { encode } from "uqr";
import {
  base32,
  beginSecondFactor,
  confirmSecondFactor,
  endSecondFactor,
  isOn,
  readPendingSecret,
  readSecondFactor,
  renewRecoveryCodes,
  type SecondFactor,
  totpAddress,
} from "#api/accounts/second-factor.ts";
import { isRejection } from "#projections/domain/rejection.ts";
import { type Html, html } from "../kit/html.ts";
import { alert, buttonForm, codeField, confirmForm, copied } from "./form.ts";
import {
  type Developers,
  developerLayout,
  refusalReply,
  type SignedIn,
  type SignedInHandler,
} from "./layout.ts";
import { passkeyList } from "./passkey-section.ts";

const path = "/developers/account/second-factor";

export const submitSecondFactor: SignedInHandler = async (developers, _visit, signedIn) => {
  const secret = await beginSecondFactor(developers.accounts, signedIn.session.accountId);
  if (secret === null) return { to: "/developers/account" };
  return { page: secretPage(developers, signedIn, secret, {}) };
};

export const submitFirstCode: SignedInHandler = async (developers, visit, signedIn) => {
  const { accounts } = developers;
  const done = await confirmSecondFactor(accounts, signedIn.session, visit.field("code"));
  if (!isRejection(done)) return { page: codesPage(signedIn, done.codes) };
  const secret = await readPendingSecret(accounts.db, signedIn.session.accountId);
  if (secret === null) return { to: "/developers/account" };
  const { rejected, message } = done;
  const state = rejected === "wrong_code" ? { badCode: message } : { message };
  return refusalReply(done, secretPage(developers, signedIn, secret, state));
};

export const submitSecondFactorEnd: SignedInHandler = async ({ accounts }, _visit, signedIn) => {
  await endSecondFactor(accounts, signedIn.session, "program");
  return { to: "/developers/account?done=second-factor-off" };
};

export const submitRecoveryCodes: SignedInHandler = async ({ accounts }, _visit, signedIn) => {
  const codes = await renewRecoveryCodes(accounts, signedIn.session);
  return codes === null ? { to: "/developers/account" } : { page: codesPage(signedIn, codes) };
};

/** What the account page says of it. */
export async function secondFactorSection(
  developers: Developers,
  signedIn: SignedIn,
): Promise<Html> {
  const { session, formToken } = signedIn;
  const factor = await readSecondFactor(developers.accounts.db, session.accountId);
  return html`<section aria-labelledby="second-factor">
<h2 id="second-factor">Second factor</h2>
${isOn(factor) ? whenOn(factor, formToken) : html`<p>With one, signing in needs a passkey, or a code of an authenticator program, besides the password or wallet.</p>`}
<h3>Authenticator program</h3>
${factor.hasProgram ? programEnd(factor, formToken) : buttonForm(path, formToken, "Set up", { kind: "primary", about: "an authenticator program" })}
${await passkeyList(developers, signedIn)}
</section>`;
}

const whenOn = ({ codesLeft }: SecondFactor, formToken: string): Html =>
  html`<p>It is on. ${codesLeft} recovery ${codesLeft === 1 ? "code is" : "codes are"} left.</p>
<div class="actions">${confirmForm(`${path}/recovery-codes`, formToken, {
    label: "New recovery codes",
    about: "of the second factor",
    kind: "primary",
    warning: "The old ones no longer work.",
  })}</div>`;

const programEnd = ({ hasPasskeys }: SecondFactor, formToken: string): Html =>
  confirmForm(`${path}/end`, formToken, {
    label: "Switch off",
    about: "the authenticator program",
    warning: hasPasskeys
      ? "Signing in then needs a passkey."
      : "Signing in then needs the password or a wallet only.",
  });

type State = { readonly badCode?: string; readonly message?: string };

function secretPage(
  { accounts }: Developers,
  signedIn: SignedIn,
  secret: Buffer,
  { badCode, message }: State,
): Html {
  const { formToken, session } = signedIn;
  const title = "Set up an authenticator program";
  const issuer = new URL(accounts.baseUrl).host;
  const body = html`<h1>${title}</h1>
${alert(message)}
<section aria-labelledby="secret-title">
<h2 id="secret-title">1. Give your authenticator program this secret</h2>
${qrCode(totpAddress(secret, session.name, issuer))}
<p>Without a camera, type it in: time-based, SHA-1, 6 digits, 30 seconds.</p>
${copied("totp-secret", html`<code id="totp-secret">${base32(secret)}</code>`)}
</section>
<section aria-labelledby="code-title">
<h2 id="code-title">2. Enter its code</h2>
<form class="card stack" method="post" action="${path}/confirm" novalidate>
<input type="hidden" name="form" value="${formToken}">
${codeField("code", badCode)}
<button class="primary">Switch on</button>
</form>
</section>`;
  return developerLayout({ title, body, signedIn, current: "account", isFormResult: true });
}

/** A square for each dark module, as one path. */
function qrCode(text: string): Html {
  const { data, size } = encode(text, { border: 4 });
  const squares = data.flatMap((row, y) =>
    row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])),
  );
  return html`<svg class="qr" viewBox="0 0 ${size} ${size}" role="img" aria-label="QR code of the secret" shape-rendering="crispEdges"><rect class="light" width="${size}" height="${size}"/><path class="dark" d="${squares.join("")}"/></svg>`;
}

export function codesPage(signedIn: SignedIn, codes: readonly string[]): Html {
  const title = "Recovery codes";
  const body = html`<h1>${title}</h1>
<div class="secret" role="status" tabindex="-1" autofocus>
<p>The second factor is on. Each of these codes works once, when you have no authenticator program or passkey at hand. Keep them: they are shown only now.</p>
${copied("recovery-codes", html`<pre tabindex="0"><code id="recovery-codes">${codes.join("\n")}</code></pre>`)}
</div>
<p class="below"><a href="/developers/account">Back to the account</a></p>`;
  return developerLayout({ title, body, signedIn, current: "account", isFormResult: true });
}
